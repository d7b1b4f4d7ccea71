import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A key and its certificate as PEM, and the file with the certificate. */
export interface Credentials {
  readonly key: string;
  readonly certificate: string;
  readonly certificateFile: string;
}

/** A certificate for the loopback that signs itself, so that clients can be told to trust it. */
export async function makeCertificate(folder: string): Promise<Credentials> {
  const keyFile = join(folder, "media-key.pem");
  const certificateFile = join(folder, "media-ca.pem");
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "7"];
  const subject = ["-subj", "/CN=fake-whatsapp", "-addext", "subjectAltName=IP:127.0.0.1"];
  await run("openssl", ["req", "-x509", ...kind, ...subject, "-keyout", keyFile, "-out", certificateFile]);
  return {
    key: await readFile(keyFile, "utf8"),
    certificate: await readFile(certificateFile, "utf8"),
    certificateFile,
  };
}
