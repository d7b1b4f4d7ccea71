import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";

/**
 * A socket in `folder` that leads to the engine at `engineSocket`, and can be taken away as if that engine had stopped.
 */
export async function interruptibleEngine(
  folder: string,
  engineSocket: string,
): Promise<{ url: string; stop: () => Promise<void>; start: () => Promise<void> } & AsyncDisposable> {
  const path = join(folder, "engine.sock");
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const engine = connect(engineSocket);
    for (const [from, to] of [
      [client, engine],
      [engine, client],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on("error", () => to.destroy()).on("close", () => to.destroy());
    }
  });
  const start = async (): Promise<void> => {
    server.listen(path);
    await once(server, "listening");
  };
  const stop = async (): Promise<void> => {
    if (!server.listening) return;
    server.close();
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    await once(server, "close");
  };
  await start();
  return { url: `unix://${path}`, start, stop, [Symbol.asyncDispose]: stop };
}
