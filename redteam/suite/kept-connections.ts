import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";

interface Asked {
  readonly headers: Readonly<Record<string, string>>;
  /** JSON that is posted; absent: a GET. */
  readonly body?: string;
  readonly signal: AbortSignal;
}

interface Answered {
  readonly status: number;
  readonly body: string;
}

/** Free connections are closed long before a host closes them. */
const freeMs = 5_000;

/** Connections to a host that are used again: attacks ask thousands of times, and a new one costs as much as a message. */
export class KeptConnections implements Disposable {
  readonly #agent = new Agent({ keepAlive: true, timeout: freeMs });

  /** Asks once more where a connection has ended in the very moment in which it was used again. */
  async ask(url: string, asked: Asked): Promise<Answered> {
    try {
      return await this.#ask(url, asked);
    } catch (error) {
      if (!(error instanceof LostConnection)) throw error;
      return this.#ask(url, asked);
    }
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  async #ask(url: string, { headers, body, signal }: Asked): Promise<Answered> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const method = body === undefined ? "GET" : "POST";
    const sent = request(url, { method, headers, agent: this.#agent, signal }, resolve);
    sent.once("error", (error: NodeJS.ErrnoException) => {
      const isLost = sent.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
      reject(isLost ? new LostConnection() : error);
    });
    sent.end(body);
    const answer = await promise;
    return { status: answer.statusCode ?? 0, body: await text(answer) };
  }
}

class LostConnection extends Error {}
