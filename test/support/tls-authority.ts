import { createServer } from "node:https";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";

import { openAuthority } from "../../src/sandbox/egress/inspection/authority.ts";
import type { Authority } from "../../src/sandbox/egress/inspection/authority.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** A certificate authority of the test's own, for servers that stand for the internet's. */
export async function testAuthority(): Promise<Authority> {
  await using folder = await temporaryFolder();
  return await openAuthority(folder.path, Date.now());
}

/** A real HTTPS server on the loopback with a certificate for `host`. */
export async function tlsServer(
  authority: Authority,
  host: string,
  listener: RequestListener,
): Promise<{ port: number } & AsyncDisposable> {
  const { key, certificate } = authority.issue(host, Date.now());
  const server = createServer({ key, cert: certificate }, listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
