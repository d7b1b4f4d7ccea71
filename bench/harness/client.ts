import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { Agent, request } from "node:http";
import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";

/** When a message was posted, acknowledged and answered, as the client saw it. */
export interface Exchange {
  readonly postedAt: number;
  readonly acknowledgedAt: number;
  readonly answeredAt: number;
  readonly reply: { readonly text: string; readonly kind: string; readonly turn: string | null };
}

/** A file that goes with a message, `data` in base64. */
export interface Attachment {
  readonly name: string;
  readonly mimeType: string;
  readonly data: string;
}

interface SayOptions {
  readonly id?: string;
  readonly attachments?: readonly Attachment[];
}

interface Reply {
  readonly seq: number;
  readonly text: string;
  readonly kind: string;
  readonly turn: string | null;
  readonly inReplyTo: readonly string[];
}

interface Answered {
  readonly at: number;
  readonly reply: Reply;
}

/** A program that talks to the host as one would: kept connections, and one long poll that is always open. */
export class Client implements AsyncDisposable {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #waiting = new Map<string, (answered: Answered) => void>();
  readonly #stop = new AbortController();
  readonly #polling: Promise<void>;

  constructor({ url, headers }: { readonly url: string; readonly headers: Readonly<Record<string, string>> }) {
    this.#url = url;
    this.#headers = headers;
    this.#polling = this.#poll().catch((error: unknown) => {
      if (!this.#stop.signal.aborted) throw error;
    });
  }

  /** Says something in a group and waits for what answers it. */
  async ask(group: string, said: string, attachments: readonly Attachment[] = []): Promise<Exchange> {
    const id = randomUUID();
    const { promise, resolve } = Promise.withResolvers<Answered>();
    this.#waiting.set(id, resolve);
    const postedAt = performance.now();
    await this.say(group, said, { id, attachments });
    const acknowledgedAt = performance.now();
    const { at, reply } = await promise;
    return { postedAt, acknowledgedAt, answeredAt: at, reply };
  }

  /** Resolves when the host has acknowledged it. */
  async say(group: string, said: string, { id = randomUUID(), attachments = [] }: SayOptions = {}): Promise<void> {
    const body = JSON.stringify({ id, group, sender: { id: "ann", name: "Ann" }, text: said, attachments });
    const answer = await this.#send("POST", "/v1/channels/http/messages", body);
    if (answer.statusCode !== 202) throw new Error(`refused with ${answer.statusCode}: ${await text(answer)}`);
    answer.resume();
  }

  /** Milliseconds from the post to the reply. */
  async time(group: string, said: string, attachments: readonly Attachment[] = []): Promise<number> {
    const { postedAt, answeredAt, reply } = await this.ask(group, said, attachments);
    if (reply.kind !== "reply") throw new Error(`answered by a notice: ${reply.text}`);
    return answeredAt - postedAt;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#agent.destroy();
    await this.#polling;
  }

  async #poll(): Promise<void> {
    for (let after = 0; !this.#stop.signal.aborted;) {
      const answer = await this.#send("GET", `/v1/channels/http/replies?after=${after}&wait=30`);
      const { replies, next } = JSON.parse(await text(answer)) as { replies: Reply[]; next: number };
      const at = performance.now();
      after = next;
      for (const reply of replies) for (const id of reply.inReplyTo) this.#settle(id, { at, reply });
    }
  }

  #settle(id: string, answered: Answered): void {
    this.#waiting.get(id)?.(answered);
    this.#waiting.delete(id);
  }

  async #send(method: string, path: string, body?: string): Promise<IncomingMessage> {
    const headers =
      body === undefined ? this.#headers : { ...this.#headers, "content-length": Buffer.byteLength(body) };
    const sent = request(`${this.#url}${path}`, { method, headers, agent: this.#agent, signal: this.#stop.signal });
    sent.end(body);
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    return answer;
  }
}
