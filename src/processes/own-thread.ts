import { once } from "node:events";
import { Worker } from "node:worker_threads";

import { toError } from "../lib/app-error.ts";
import type { FailureCodec } from "./failures.ts";
import { type Answers, Line, ProcessEnded, type LineLimits, type Listeners } from "./line.ts";
import type { Protocol } from "./protocol.ts";
import { threadWire, type Wire } from "./wires.ts";

/** A thread of ours: what it runs, what it is asked and told. */
export interface ThreadOptions<Messages extends Protocol> {
  /** Its name in sentences, such as "its thread". */
  readonly name: string;
  /** Path of the module to run. */
  readonly main: string;
  /** Data that it begins with; it has no environment. */
  readonly data: unknown;
  readonly protocol: Messages;
  readonly answers: Answers<Messages["host"]>;
  readonly listeners: Listeners<Messages["host"]>;
  readonly limits: LineLimits;
  readonly failures?: FailureCodec | undefined;
}

/** A thread of ours. It does not keep the host alive, and finishes what it was asked before it ends. */
export class OwnThread<Messages extends Protocol = Protocol> implements AsyncDisposable {
  readonly line: Line<Messages["host"], Messages["process"]>;
  /** Resolves when the thread has ended, with the reason. */
  readonly exited: Promise<Error>;
  hasEnded = false;
  readonly #worker: Worker;
  readonly #wire: Wire;

  constructor({ name, main, data, protocol, answers, listeners, limits, failures }: ThreadOptions<Messages>) {
    this.#worker = new Worker(main, { workerData: data, env: {} });
    this.#worker.unref();
    const onFault = (reason: string): void => void this.#worker.emit("error", new Error(reason));
    this.#wire = threadWire(this.#worker, { onFrame: (frame) => this.line.receive(frame), onFault });
    const { host: local, process: remote } = protocol;
    this.line = new Line({ wire: this.#wire, local, remote, answers, listeners, limits, failures, onFault });
    this.exited = this.#end(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#worker.ref();
    this.#wire.send({ end: true });
    await this.exited;
    await this.line.idle();
  }

  async #end(name: string): Promise<Error> {
    let why: string | undefined;
    this.#worker.on("error", (error) => (why = toError(error).message));
    await once(this.#worker, "exit");
    const reason = new ProcessEnded(why ?? `${name} has ended`);
    this.hasEnded = true;
    this.line.close(reason);
    return reason;
  }
}
