import { Agent, type ClientRequest } from "node:http";
import { connect as connectSocket, isIP } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { type EngineAddress, parseEngineUrl } from "./address.ts";
import { SshConnection } from "./ssh-connection.ts";

type AddRequest = (request: ClientRequest, options: object) => void;

/**
 * Makes the connections to one engine, whatever kind of address it has. Each request gets its own, so that a restart of the
 * engine between two requests is not noticed. Disposal closes all and resolves when they are closed, processes included.
 */
export class EngineAgent extends Agent implements AsyncDisposable {
  /** For the Host header. */
  readonly authority: string;
  readonly #connect: () => Duplex;
  readonly #open = new Set<Duplex>();
  #isClosed = false;

  constructor(address: EngineAddress) {
    super({ keepAlive: false });
    const { authority, connect } = routeTo(address);
    this.authority = authority;
    this.#connect = connect;
  }

  override createConnection(): Duplex {
    // A request that was begun just before the end gets here just after it.
    if (this.#isClosed) throw new Error("The connection to the container engine is closed.");
    const connection = this.#connect();
    this.#open.add(connection);
    connection.once("close", () => this.#open.delete(connection));
    return connection;
  }

  /**
   * Node's HTTP client calls this for each request, which is undocumented. docker-modem would follow a redirect to wherever
   * it leads, and nobody listens to how that fails; without a location the answer is what it should be, a refusal.
   */
  addRequest(request: ClientRequest, options: object): void {
    request.prependOnceListener("response", ({ headers }) => delete headers.location);
    const { addRequest } = Agent.prototype as unknown as { addRequest: AddRequest };
    addRequest.call(this, request, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const closing = Array.from(this.#open, (connection) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      connection.once("close", resolve).destroy();
      return promise;
    });
    await Promise.all(closing);
  }
}

function routeTo({ url, tls, env = {} }: EngineAddress): { authority: string; connect: () => Duplex } {
  const route = parseEngineUrl(url);
  if (route.kind === "unix") return { authority: "localhost", connect: () => connectSocket({ path: route.path }) };
  if (route.kind === "ssh") return { authority: "localhost", connect: () => new SshConnection(route, env) };
  const { host } = route;
  const port = route.port ?? (tls ? 2376 : 2375);
  const authority = isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
  if (tls === undefined) return { authority, connect: () => connectSocket({ host, port }) };
  const { ca, cert, key } = tls;
  const identity = { ca, cert, key, rejectUnauthorized: true };
  const name = isIP(host) ? {} : { servername: host };
  return { authority, connect: () => connectTls({ host, port, ...name, ...identity }) };
}
