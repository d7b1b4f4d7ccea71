import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError, toError } from "../../../lib/app-error.ts";

/** Contents of the PEM files by which an engine and its client know each other. */
export interface TlsIdentity {
  /** The authorities that may have signed the engine's certificate. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/**
 * Reads `ca.pem`, `cert.pem` and `key.pem` of a folder, as Docker's own client names them. Throws `engine_unavailable` with
 * the file's path when one is missing, cannot be read or is not what its name says. `askedBy`: what wants TLS, for messages.
 */
export async function readTlsIdentity(folder: string, askedBy: string): Promise<TlsIdentity> {
  const read = async (name: string, check: (pem: string) => unknown): Promise<string> => {
    const path = join(folder, name);
    try {
      const pem = await readFile(path, "utf8");
      check(pem);
      return pem;
    } catch (cause) {
      const message = `${askedBy} asks for TLS, but ${path} cannot be used: ${toError(cause).message}.`;
      const fix = `put ca.pem, cert.pem and key.pem into ${folder}, or name their folder with DOCKER_CERT_PATH`;
      throw new AppError("engine_unavailable", message, { cause, fix });
    }
  };
  const ca = await read("ca.pem", (pem) => new X509Certificate(pem));
  const cert = await read("cert.pem", (pem) => new X509Certificate(pem));
  const key = await read("key.pem", (pem) => {
    if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(pem)))
      throw new Error("it is not the key of cert.pem");
  });
  return { ca, cert, key };
}
