import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { createServer } from "node:http";
import { dirname } from "node:path";

/**
 * A server that answers like an engine as far as finding one goes, and describes itself when it is told how. Listens at a
 * socket path, or at a free port of this machine.
 */
export async function pretendEngine(
  socketPath?: string,
  system?: Readonly<Record<string, unknown>>,
): Promise<{ url: string; asked: readonly string[] } & AsyncDisposable> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    if (system !== undefined && path.startsWith("/info")) return response.end(JSON.stringify(system));
    return response.writeHead(path.startsWith("/version") ? 200 : 404).end('{"Version":"1"}');
  });
  if (socketPath === undefined) server.listen(0, "127.0.0.1");
  else {
    await mkdir(dirname(socketPath), { recursive: true });
    server.listen(socketPath);
  }
  await once(server, "listening");
  const address = server.address();
  return {
    asked,
    url: typeof address === "string" ? `unix://${address}` : `tcp://127.0.0.1:${address?.port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
