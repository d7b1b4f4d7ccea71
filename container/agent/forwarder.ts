import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { Server, Socket } from "node:net";

/** Connections at the same time; the host allows fewer. */
const maxConnections = 128;

/**
 * Makes the host's socket reachable for programs that only know proxies with an address: listens on the container's own
 * loopback and passes bytes on, unread. It decides nothing; the host does.
 */
export async function startForwarder(place: { readonly port: number; readonly socketPath: string }): Promise<Server> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
    const proxy = connect({ path: place.socketPath, allowHalfOpen: true });
    join(client, proxy);
    join(proxy, client);
    client.resume();
  });
  server.maxConnections = maxConnections;
  server.listen(place.port, "127.0.0.1");
  await once(server, "listening");
  return server;
}

/** Like `pipeline` in one direction, but the other one stays open when this one has ended. */
function join(from: Socket, to: Socket): void {
  from.pipe(to);
  from.on("error", () => from.destroy()).on("close", () => to.destroySoon());
}
