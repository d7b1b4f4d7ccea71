import { fromFailure, toFailure } from "./failures.ts";
import type { Frame } from "./frames.ts";

/** What a call from the other side may know besides its value. */
export interface Served {
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Its number, which what is told about it carries. */
  readonly id: number;
  /** What answers for the call of this side that it belongs to, while that one has no answer yet. */
  readonly onAsked: CallOptions["onAsked"];
}

export interface PeerOptions {
  /** False when the other side is gone. */
  readonly send: (frame: Frame) => boolean;
  readonly serve: (name: string, value: unknown, served: Served) => Promise<unknown>;
  /** Something is told: of a call of this side's, or of a thing that has this number. */
  readonly heard: (name: string, of: number, value: unknown) => void;
  /** So many calls of the other side at once. */
  readonly mostServed: number;
  readonly onFault: (reason: string) => void;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly of?: number | undefined;
  /** What is told about this call until it is answered. */
  readonly onTold?: ((name: string, value: unknown) => void) | undefined;
  /** What the other side asks for on its behalf until then. */
  readonly onAsked?: ((name: string, value: unknown) => Promise<unknown>) | undefined;
}

interface Pending {
  readonly answer: PromiseWithResolvers<unknown>;
  readonly onTold: CallOptions["onTold"];
  readonly onAsked: CallOptions["onAsked"];
}

/**
 * One end of the line between the host and a plugin: calls both ways, answers as they come. When the other process is
 * gone, `close` fails the calls that have no answer yet. What comes in as value is not checked here.
 */
export class Peer {
  readonly #options: PeerOptions;
  readonly #pending = new Map<number, Pending>();
  readonly #serving = new Map<number, AbortController>();
  #lastId = 0;
  #closed: Error | undefined;

  constructor(options: PeerOptions) {
    this.#options = options;
  }

  async call(name: string, value: unknown, { signal, of, onTold, onAsked }: CallOptions = {}): Promise<unknown> {
    if (this.#closed) throw this.#closed;
    signal?.throwIfAborted();
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = Promise.withResolvers<unknown>();
    this.#pending.set(id, { answer, onTold, onAsked });
    const giveUp = (): void => {
      if (!this.#pending.delete(id)) return;
      this.#post({ cancel: id });
      answer.reject(signal?.reason);
    };
    signal?.addEventListener("abort", giveUp, { once: true });
    try {
      this.#post({ call: name, id, of, value });
      return await answer.promise;
    } finally {
      signal?.removeEventListener("abort", giveUp);
    }
  }

  tell(name: string, of: number, value: unknown): void {
    if (!this.#closed) this.#post({ tell: name, of, value });
  }

  receive(frame: Frame): void {
    if (this.#closed || "beat" in frame) return;
    if ("call" in frame) this.#serve(frame);
    else if ("cancel" in frame) this.#serving.get(frame.cancel)?.abort(new Error("nobody waits for it any more"));
    else if ("tell" in frame) this.#hear(frame);
    else if ("answer" in frame) this.#take(frame.answer)?.resolve(frame.value);
    else this.#take(frame.failure)?.reject(fromFailure(frame.error));
  }

  close(reason: Error): void {
    if (this.#closed) return;
    this.#closed = reason;
    for (const { answer } of this.#pending.values()) answer.reject(reason);
    this.#pending.clear();
    for (const controller of this.#serving.values()) controller.abort(reason);
  }

  #hear({ tell, of, value }: Extract<Frame, { tell: string }>): void {
    const pending = this.#pending.get(of);
    if (pending?.onTold) pending.onTold(tell, value);
    else this.#options.heard(tell, of, value);
  }

  #take(id: number): PromiseWithResolvers<unknown> | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending?.answer;
  }

  #post(frame: Frame): void {
    if (!this.#options.send(frame)) this.close(new Error("the other process has ended"));
  }

  #serve({ call, id, of, value }: Extract<Frame, { call: string }>): void {
    if (this.#serving.size >= this.#options.mostServed || this.#serving.has(id))
      return this.#options.onFault(`it made more than ${this.#options.mostServed} calls at once`);
    const controller = new AbortController();
    this.#serving.set(id, controller);
    const onAsked = of === undefined ? undefined : this.#pending.get(of)?.onAsked;
    void this.#answer(call, value, { signal: controller.signal, id, onAsked }).finally(() => this.#serving.delete(id));
  }

  async #answer(name: string, value: unknown, served: Served): Promise<void> {
    const answer: Frame = await this.#options.serve(name, value, served).then(
      (result) => ({ answer: served.id, value: result ?? null }),
      (error: unknown) => ({ failure: served.id, error: toFailure(error) }),
    );
    if (!this.#closed) this.#post(answer);
  }
}
