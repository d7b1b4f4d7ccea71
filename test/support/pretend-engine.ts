import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { dirname, join } from "node:path";

import { temporaryFolder } from "./temporary-folder.ts";

/**
 * A server in the place of an engine, at its own socket unless one is named, that answers each request in this
 * way.
 */
export async function engineThat(
  answers: RequestListener,
  socketPath?: string,
): Promise<{ url: string } & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const path = socketPath ?? join(stack.use(await temporaryFolder()).path, "engine.sock");
  await mkdir(dirname(path), { recursive: true });
  const server = createServer(answers).listen(path);
  await once(server, "listening");
  stack.defer(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  const owned = stack.move();
  return { url: `unix://${path}`, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Answers like an engine as far as finding one goes, and describes itself when it is told how. */
export async function pretendEngine(
  socketPath?: string,
  system?: Readonly<Record<string, unknown>>,
): Promise<{ url: string; asked: readonly string[] } & AsyncDisposable> {
  const asked: string[] = [];
  const server = await engineThat((request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    if (system !== undefined && path.startsWith("/info")) return response.end(JSON.stringify(system));
    return response.writeHead(path.startsWith("/version") ? 200 : 404).end('{"Version":"1"}');
  }, socketPath);
  return { ...server, asked };
}
