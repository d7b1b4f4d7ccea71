import { toError } from "../../../lib/app-error.ts";

/** What one process offers to the other. Values are plain data: the structured clone carries them. */
export type Methods<Kind> = { readonly [Name in keyof Kind]: (value: never) => Promise<unknown> };

/** One end of the channel between two processes. */
export interface Port {
  /** False when the other end is gone. */
  send(message: object): boolean;
}

interface Call {
  readonly call: string;
  readonly id: number;
  readonly value: unknown;
}

interface Answer {
  readonly answer: number;
  readonly value?: unknown;
  /** Why the call failed; only the message crosses over. */
  readonly failure?: string;
}

/**
 * Calls between the host and its worker, both ways: in the order in which they are made, answers as they come. When the
 * other process is gone, `close` fails the calls that have no answer yet.
 */
export class IpcPeer<Local extends Methods<Local>, Remote extends Methods<Remote>> {
  readonly #port: Port;
  readonly #local: Local;
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #serving = new Set<Promise<void>>();
  #lastId = 0;
  #closed: Error | undefined;

  constructor(port: Port, local: Local) {
    this.#port = port;
    this.#local = local;
  }

  async call<Name extends keyof Remote & string>(
    name: Name,
    value: Parameters<Remote[Name]>[0],
  ): Promise<Awaited<ReturnType<Remote[Name]>>> {
    if (this.#closed) throw this.#closed;
    this.#lastId += 1;
    const answer = Promise.withResolvers<unknown>();
    this.#pending.set(this.#lastId, answer);
    this.#post({ call: name, id: this.#lastId, value } satisfies Call);
    return (await answer.promise) as Awaited<ReturnType<Remote[Name]>>;
  }

  /** A call of which nobody waits for the answer; it may never arrive. */
  tell<Name extends keyof Remote & string>(name: Name, value: Parameters<Remote[Name]>[0]): void {
    if (!this.#closed) this.#post({ call: name, id: 0, value } satisfies Call);
  }

  /** Takes a message that came from the other end. */
  receive(message: unknown): void {
    if (isAnswer(message)) this.#settle(message);
    else if (isCall(message)) this.#serve(message);
  }

  /** Resolves when every call that came from the other end is done. */
  async idle(): Promise<void> {
    while (this.#serving.size > 0) await Promise.allSettled(this.#serving);
  }

  close(reason: Error): void {
    this.#closed ??= reason;
    for (const { reject } of this.#pending.values()) reject(reason);
    this.#pending.clear();
  }

  #post(message: Call | Answer): void {
    if (!this.#port.send(message)) this.close(new Error("the other process has ended"));
  }

  #settle({ answer, value, failure }: Answer): void {
    const pending = this.#pending.get(answer);
    this.#pending.delete(answer);
    if (failure === undefined) pending?.resolve(value);
    else pending?.reject(new Error(failure));
  }

  #serve(call: Call): void {
    const serving = this.#answer(call);
    this.#serving.add(serving);
    void serving.then(() => this.#serving.delete(serving));
  }

  async #answer({ call, id, value }: Call): Promise<void> {
    const method = this.#local[call as keyof Local] as unknown as ((value: unknown) => Promise<unknown>) | undefined;
    const answer: Answer = await this.#run(method, value).then(
      (result) => ({ answer: id, value: result }),
      (error: unknown) => ({ answer: id, failure: toError(error).message }),
    );
    if (id > 0 && !this.#closed) this.#post(answer);
  }

  async #run(method: ((value: unknown) => Promise<unknown>) | undefined, value: unknown): Promise<unknown> {
    if (!method) throw new Error("no such call");
    return method(value);
  }
}

function isCall(message: unknown): message is Call {
  return typeof message === "object" && message !== null && "call" in message;
}

function isAnswer(message: unknown): message is Answer {
  return typeof message === "object" && message !== null && "answer" in message;
}
