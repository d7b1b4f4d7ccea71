import { readFile } from "node:fs/promises";
import type { Readable } from "node:stream";

import { shorten, visible } from "../lib/text/visible.ts";
import type { FailureCodec } from "./failures.ts";
import { type ProcessBody, startChild } from "./body.ts";
import type { Launch } from "./launch.ts";
import { type Answers, Line, ProcessEnded, type LineLimits, type Listeners } from "./line.ts";
import type { Frame, Protocol } from "./protocol.ts";
import { streamWire } from "./wires.ts";

/** Limits on a process of ours. */
export interface ProcessLimits extends LineLimits {
  /** Time to its first word. */
  readonly startMs: number;
  /** It says every so often that it lives; left out: it does not, because it does one thing at a time. */
  readonly beatMs?: number | undefined;
  /** One that was silent for longer is killed. */
  readonly silenceMs?: number | undefined;
  /** Time to end by itself. */
  readonly endMs: number;
  /** Longest message that is taken from it. */
  readonly messageBytes: number;
  readonly messagesPerSecond: number;
  readonly memory?: MemoryLimit | undefined;
}

/** Memory that a process may hold: anonymous pages, or everything that is mapped. */
export interface MemoryLimit {
  readonly mb: number;
  readonly counts: "RssAnon" | "VmRSS";
  readonly everyMs: number;
}

/** Takes what a process prints. */
export interface ProcessOutput {
  take(stream: Readable, kind: "stdout" | "stderr"): void;
  /** Returns why the process ended, where what it printed tells. */
  tell(): string | undefined;
  /** Nothing more will come. */
  end(): void;
}

/** A process of ours: what it runs, what it is asked and told, and its limits. */
export interface ProcessOptions<Messages extends Protocol> {
  /** Its name in sentences, such as "the WhatsApp process". */
  readonly name: string;
  /** A body: it runs already. */
  readonly launch: Launch | ProcessBody;
  readonly protocol: Messages;
  readonly answers: Answers<Messages["host"]>;
  readonly listeners: Listeners<Messages["host"]>;
  readonly limits: ProcessLimits;
  readonly failures?: FailureCodec | undefined;
  /** Left out: what it prints goes nowhere. */
  readonly output?: ProcessOutput | undefined;
}

const crashChars = 300;

/**
 * A process of ours, beside the host's or in a container. It is killed, with all that it has started, when it says
 * nothing, floods, holds too much memory or breaks the rules of the line; and when this is disposed at the latest.
 */
export class OwnProcess<Messages extends Protocol = Protocol> implements AsyncDisposable {
  readonly line: Line<Messages["host"], Messages["process"]>;
  /** Resolves when the process has ended, with the reason. */
  readonly exited: Promise<Error>;
  hasEnded = false;
  readonly #body: ProcessBody;
  readonly #options: ProcessOptions<Messages>;
  readonly #sendFrame: (frame: Frame) => boolean;
  readonly #weighing: NodeJS.Timeout | undefined;
  #silence: NodeJS.Timeout | undefined;
  #killedFor: string | undefined;
  #crash: string | undefined;
  #second = { began: 0, messages: 0 };
  #isEnding = false;

  constructor(options: ProcessOptions<Messages>) {
    this.#options = options;
    const { launch, protocol, answers, listeners, limits, failures, output } = options;
    const prints = output && ((stream: Readable, kind: "stdout" | "stderr") => output.take(stream, kind));
    this.#body = "main" in launch ? startChild(launch, prints) : launch;
    const onFault = (reason: string): void => this.kill(reason);
    const read = { onFrame: (frame: Frame) => this.#take(frame), onFault };
    const wire = streamWire(this.#body, { encoding: protocol.encoding, longest: limits.messageBytes }, read);
    this.#sendFrame = (frame) => wire.send(frame);
    const { host: local, process: remote } = protocol;
    this.line = new Line({ wire, local, remote, answers, listeners, limits, failures, onFault });
    this.#silence = setTimeout(() => this.kill("it did not begin in time"), limits.startMs);
    if (limits.beatMs !== undefined) wire.send({ beat: limits.beatMs });
    if (limits.memory) this.#weighing = setInterval(() => void this.#weigh(), limits.memory.everyMs).unref();
    this.exited = this.#end();
  }

  get pid(): number | undefined {
    return this.#body.pid;
  }

  /** Ends it at once; `reason` is what those hear who wait for it. */
  kill(reason: string): void {
    this.#killedFor ??= reason;
    this.#body.kill();
  }

  /** Lets it end by itself for a moment. When this has resolved there is no process, and no work for it is going on. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true;
    clearTimeout(this.#silence);
    const patience = setTimeout(() => this.kill("it did not end by itself"), this.#options.limits.endMs);
    this.#sendFrame({ end: true });
    await this.exited;
    clearTimeout(patience);
    await this.line.idle();
  }

  #take(frame: Frame): void {
    if (this.#killedFor !== undefined) return;
    const { messagesPerSecond } = this.#options.limits;
    const now = performance.now();
    if (now - this.#second.began > 1_000) this.#second = { began: now, messages: 0 };
    this.#second.messages += 1;
    if (this.#second.messages > messagesPerSecond)
      return this.kill(`it sent more than ${messagesPerSecond} messages in a second`);
    this.#expectLife();
    if ("crash" in frame) this.#crash = frame.crash;
    else this.line.receive(frame);
  }

  #expectLife(): void {
    clearTimeout(this.#silence);
    const { silenceMs } = this.#options.limits;
    if (this.#isEnding || silenceMs === undefined) return;
    this.#silence = setTimeout(() => this.kill("it gave no sign of life"), silenceMs);
  }

  /** Linux tells what a process holds; elsewhere only its heap is bounded. */
  async #weigh(): Promise<void> {
    const { memory, beatMs } = this.#options.limits;
    // One that does not beat is at work only while it is asked.
    if (!memory || (beatMs === undefined && this.line.open === 0)) return;
    const text = await readFile(`/proc/${this.pid}/status`, "utf8").catch(() => "");
    const heldMb = Number(new RegExp(`^${memory.counts}:\\s+(\\d+) kB$`, "m").exec(text)?.[1] ?? 0) / 1024;
    if (heldMb > memory.mb) this.kill(`it held ${Math.round(heldMb)} MiB of memory, more than the ${memory.mb} it may`);
  }

  async #end(): Promise<Error> {
    const end = await this.#body.ended;
    clearTimeout(this.#silence);
    clearInterval(this.#weighing);
    const why = this.#killedFor ?? end;
    const { name, output } = this.#options;
    const words = this.#crash === undefined ? output?.tell() : shorten(visible(this.#crash), crashChars);
    const reason = new ProcessEnded(`${name} has ended (${words === undefined ? why : `${why}: ${words}`})`);
    this.hasEnded = true;
    this.line.close(reason);
    output?.end();
    await this.#body[Symbol.asyncDispose]();
    return reason;
  }
}
