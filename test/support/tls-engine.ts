import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { connect, type AddressInfo } from "node:net";
import { join } from "node:path";
import { createServer, type TLSSocket } from "node:tls";
import { promisify } from "node:util";
import type { Authority } from "../../src/sandbox/egress/inspection/authority.ts";
import { requireProgram } from "./debian-program.ts";
import { engineWithAgentImage } from "./engine.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { testAuthority } from "./tls-authority.ts";

export interface TlsEngine extends AsyncDisposable {
  /** For DOCKER_HOST: the name is `localhost`. */
  readonly url: string;
  /** For DOCKER_CERT_PATH: `ca.pem`, `cert.pem`, `key.pem`. */
  readonly certificates: string;
  /** The same by number, which its certificate does not speak of. */
  readonly numericUrl: string;
}

export interface TlsEngineOptions {
  /** Signs the server's certificate in place of the one that `ca.pem` is of. */
  readonly signer?: Authority;
  /** When the server's certificate was made; it lasts for a month. */
  readonly issuedAt?: number;
}

/** The machine's engine behind TLS: asks each client for a certificate, and lets in the one of `certificates` only. */
export async function startTlsEngine(options: TlsEngineOptions = {}): Promise<TlsEngine> {
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await temporaryFolder());
  const authority = await testAuthority();
  await writeFile(join(folder, "ca.pem"), authority.certificate);
  await writeClientCertificate(folder);
  const socketPath = await engineSocket();
  const { key, certificate } = (options.signer ?? authority).issue("localhost", options.issuedAt ?? Date.now());
  const client = await readFile(join(folder, "cert.pem"));
  const open = new Set<TLSSocket>();
  const server = createServer({ key, cert: certificate, ca: [client], requestCert: true }, (socket) => {
    open.add(socket);
    const engine = connect(socketPath);
    for (const [from, to] of [
      [socket, engine],
      [engine, socket],
    ] as const) {
      from.pipe(to);
      from.on("error", () => to.destroy()).on("close", () => to.destroy());
    }
  });
  server.on("tlsClientError", () => {});
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  stack.defer(async () => {
    const closed = once(server, "close");
    for (const socket of open) socket.destroy();
    server.close();
    await closed;
  });
  const { port } = server.address() as AddressInfo;
  const owned = stack.move();
  return {
    url: `tcp://localhost:${port}`,
    numericUrl: `tcp://127.0.0.1:${port}`,
    certificates: folder,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Signed by itself: that is who is let in. */
export async function writeClientCertificate(folder: string): Promise<void> {
  await requireProgram("/usr/bin/openssl", "openssl");
  const files = ["-keyout", join(folder, "key.pem"), "-out", join(folder, "cert.pem")];
  const kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  await promisify(execFile)("openssl", ["req", ...kind, ...files, "-subj", "/CN=crabpot test"]);
}

async function engineSocket(): Promise<string> {
  const { engine } = await engineWithAgentImage();
  const { address } = await engine.facts();
  await engine[Symbol.asyncDispose]();
  return address.replace("unix://", "");
}
