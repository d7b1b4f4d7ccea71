import { Agent, type ClientRequest } from "node:http";
import { connect, type Socket } from "node:net";

type AddRequest = (request: ClientRequest, options: object) => void;

/**
 * Makes the connections to the engine that listens at a socket. Each request gets its own, so that a restart of the
 * engine between two requests is not noticed. Disposal closes all and resolves when they are closed.
 */
export class EngineAgent extends Agent implements AsyncDisposable {
  readonly #path: string;
  readonly #open = new Set<Socket>();
  #isClosed = false;

  constructor(path: string) {
    super({ keepAlive: false });
    this.#path = path;
  }

  override createConnection(): Socket {
    // A request that was begun just before the end gets here just after it.
    if (this.#isClosed) throw new Error("The connection to the container engine is closed.");
    const connection = connect(this.#path);
    this.#open.add(connection);
    connection.once("close", () => this.#open.delete(connection));
    return connection;
  }

  /**
   * Called by Node's HTTP client for each request (undocumented). Strips redirects, which docker-modem would follow
   * anywhere without an error handler, so that they become refusals.
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
