import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { AppError } from "../../../lib/app-error.ts";

/** Waits on this machine for the browser to return from a login. */
export class RedirectListener implements AsyncDisposable {
  readonly url: string;
  /** Query of the address that the browser reached. */
  readonly came: Promise<URLSearchParams>;
  readonly #server: Server;

  private constructor(server: Server, came: Promise<URLSearchParams>) {
    this.#server = server;
    this.came = came;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
  }

  /** Opens a listener. `isExpected` checks by the state that the visitor belongs to the login begun here. */
  static async open(port: number, isExpected: (state: string | null) => boolean): Promise<RedirectListener> {
    const { promise, resolve } = Promise.withResolvers<URLSearchParams>();
    const answer = (method: string, url: URL): { status: number; text: string } => {
      if (method !== "GET" || url.pathname !== "/callback") return { status: 404, text: "Nothing is here." };
      if (!isExpected(url.searchParams.get("state")))
        return { status: 400, text: "This is not the login that crabpot waits for." };
      resolve(url.searchParams);
      return { status: 200, text: "crabpot has what it needs. You can close this page and go back to the terminal." };
    };
    const limits = { maxHeaderSize: 32 * 1024, requestTimeout: 10_000 };
    const server = createServer(limits, ({ method = "", url = "" }, response) => {
      const { status, text } = answer(method, URL.parse(url, "http://127.0.0.1") ?? new URL("http://127.0.0.1"));
      const headers = { "content-type": "text/plain; charset=utf-8", connection: "close" };
      response.writeHead(status, headers).end(`${text}\n`);
    });
    server.listen(port, "127.0.0.1");
    await once(server, "listening").catch((cause: unknown) => {
      throw new AppError("conflict", `Port ${port} of this machine is in use.`, { cause, fix: "Give another --port." });
    });
    return new RedirectListener(server, promise);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeIdleConnections();
    const closed = once(this.#server, "close");
    this.#server.close();
    await closed;
  }
}
