import { chmod, unlink } from "node:fs/promises";
import { once } from "node:events";
import { createServer } from "node:net";
import type { Server, Socket } from "node:net";

import { toError } from "../../lib/app-error.ts";
import { withShortPath } from "../../lib/files/socket-path.ts";
import { maxRequestBytes, parseConnectRequest } from "./connect-request.ts";
import { Passage } from "./passage.ts";
import type { PassageOptions } from "./passage.ts";
import { readFirst } from "./read-first.ts";
import { answer, refuse } from "./replies.ts";

/** Connections at the same time, those included that have not asked for anything yet. */
const maxConnections = 64;

/**
 * A group's only way out: a proxy on a Unix socket that its containers see. Whoever connects is that group's agent; who
 * it is never comes from what is sent.
 */
export class EgressProxy implements AsyncDisposable {
  readonly #options: PassageOptions;
  readonly #server: Server;
  readonly #stop = new AbortController();
  readonly #serving = new Set<Promise<void>>();
  readonly #sockets = new Set<Socket>();

  private constructor(options: PassageOptions) {
    this.#options = options;
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: false }, (socket) => this.#accept(socket));
    this.#server.maxConnections = maxConnections;
  }

  /** Listens at `socketPath`; a socket that an earlier run has left there is replaced. */
  static async open(options: PassageOptions, socketPath: string): Promise<EgressProxy> {
    const proxy = new EgressProxy(options);
    await withShortPath(socketPath, async (path) => {
      await unlink(path).catch(() => undefined);
      proxy.#server.listen(path);
      await once(proxy.#server, "listening");
      // The folder decides who comes here at all: on the host its owner, and the containers that it is shown to.
      await chmod(path, 0o666);
    });
    return proxy;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all([closed, ...this.#serving]);
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => socket.destroy()).on("close", () => this.#sockets.delete(socket));
    const serving = this.#serve(socket)
      .catch((error: unknown) => {
        this.#options.logger.error({ error: toError(error), group: this.#options.group }, "an egress request failed");
      })
      .finally(() => {
        this.#serving.delete(serving);
        if (!socket.writableEnded) socket.destroy();
      });
    this.#serving.add(serving);
  }

  async #serve(socket: Socket): Promise<void> {
    const { meter, limits, report } = this.#options;
    const first = await readFirst(socket, endOfRequest, {
      maxBytes: maxRequestBytes,
      timeoutMs: limits.handshakeMs,
    });
    if (first.kind === "closed") return;
    const counted = meter.countRequest();
    if (counted !== "within") {
      if (counted === "first-over") await report({ verdict: "refused", rule: "requests-per-minute" });
      await answer(socket, 429, "requests-per-minute", "too many requests; try again in a minute");
      return;
    }
    if (first.kind !== "read") {
      const detail =
        first.kind === "too-long" ? `a request has at most ${maxRequestBytes} bytes` : "the request took too long";
      await refuse(socket, this.#options, { status: 400, rule: first.kind, detail });
      return;
    }
    const request = parseConnectRequest(first.bytes.toString("latin1", 0, first.result));
    if (!request.ok) {
      await refuse(socket, this.#options, request);
      return;
    }
    if (first.bytes.length > first.result) socket.unshift(first.bytes.subarray(first.result));
    await new Passage(this.#options, request.destination).run(socket, this.#stop.signal);
  }
}

/** Returns the end of the request's header block. */
function endOfRequest(bytes: Buffer): number | undefined {
  const at = bytes.indexOf("\r\n\r\n");
  return at === -1 ? undefined : at + 4;
}
