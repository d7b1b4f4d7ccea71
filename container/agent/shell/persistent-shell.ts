import { realpath } from "node:fs/promises";

import type { CallEnd } from "./shell-process.ts";
import { canStartProcess, killLeftovers } from "./processes.ts";
import type { ShellState } from "./script.ts";
import { ShellProcess } from "./shell-process.ts";
import type { ShellProcessOptions } from "./shell-process.ts";

export interface CallOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Asked at the time limit: true detaches the command, and its shell becomes the caller's. */
  readonly mayGoOn?: (() => boolean) | undefined;
  readonly onOutput: (chunk: Buffer) => void;
}

export type ShellCallEnd =
  | { readonly kind: "completed"; readonly exitCode: number }
  | Exclude<CallEnd, { kind: "completed" }>
  | { readonly kind: "timed-out" }
  | { readonly kind: "cancelled" }
  /** Its time is over, and it goes on: the next call gets a new shell. */
  | { readonly kind: "goes-on"; readonly process: ShellProcess; readonly end: Promise<CallEnd> };

/** Longest path that the kernel takes. */
const maxDirectoryChars = 4_096;

/** Carried by nothing, so that only the signal to everything is left, where that is right. */
const noMark = "-";

export interface ShellCall {
  readonly end: ShellCallEnd;
  /** The shell had to be started anew before the command, because what it had started left no room for processes. */
  readonly unchoked: boolean;
}

export interface FreshCall extends ShellCall {
  /** It went to another folder. */
  readonly isMoved: boolean;
}

/**
 * The session's one bash: started with the first command, one command at a time, working directory, environment and
 * functions stay. When a call does not complete, the shell ends with everything it started; the next call gets a new
 * one with working directory and exported environment of the last call that completed.
 */
export class PersistentShell implements AsyncDisposable {
  readonly #options: Omit<ShellProcessOptions, "state">;
  #state: ShellState | undefined;
  #process: ShellProcess | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(options: Omit<ShellProcessOptions, "state">) {
    this.#options = options;
  }

  /** Working directory and environment of the last call that completed; undefined before the first. */
  get state(): ShellState | undefined {
    return this.#state;
  }

  get workingDirectory(): string {
    if (!this.#state) return this.#options.workingDirectory;
    return Buffer.from(this.#state.workingDirectory, "latin1").toString("utf8");
  }

  get startDirectory(): string {
    return this.#options.workingDirectory;
  }

  /** Folder of the next command, without links, so that it means one place; undefined where its name is not text. */
  async directory(): Promise<string | undefined> {
    const named = this.workingDirectory;
    const real = await realpath(named).catch(() => named);
    return real.includes("\ufffd") || real.length > maxDirectoryChars ? undefined : real;
  }

  /** Waits for calls before it. Rejects only when no shell can be started. */
  async run(command: string, options: CallOptions): Promise<ShellCall> {
    const call = this.#last.then(() => this.#run(command, options));
    this.#last = call.catch(() => undefined);
    return call;
  }

  /**
   * Runs a command in a new shell, as the first one was, in this folder; ends all that it leaves running. The
   * session's shell stays as it is. Rejects only when no shell can be started.
   */
  async runAfresh(command: string, directory: string, options: CallOptions): Promise<FreshCall> {
    const apart = { ...this.#options, workingDirectory: directory, ownsPidNamespace: false };
    const mark = () => (this.#process ? [this.#process.mark] : []);
    const spared = () => [...(this.#options.spared?.() ?? []), ...mark()];
    await using shell = new PersistentShell({ ...apart, spared });
    const call = await shell.run(command, options);
    return { ...call, isMoved: shell.workingDirectory !== directory };
  }

  /** Ends the shell and all that it started, running or in the background. Calls that wait are cancelled. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#end();
  }

  async #end(): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    await running?.end();
  }

  async #run(command: string, options: CallOptions): Promise<ShellCall> {
    const isOver = (): boolean => options.signal.aborted || this.#isClosed;
    if (isOver()) return { end: { kind: "cancelled" }, unchoked: false };
    const unchoked = await this.#makeRoom();
    const shell = (this.#process ??= await ShellProcess.start({ ...this.#options, state: this.#state }));
    // The call may have been cancelled, or the shell closed, while it was started.
    if (isOver()) {
      await this.#end();
      return { end: { kind: "cancelled" }, unchoked };
    }
    const call = shell.run(command, options.onOutput);
    const end = await untilStopped(call, options);
    if (end.kind === "completed") {
      this.#state = end.report.state;
      return { end: { kind: "completed", exitCode: end.report.exitCode }, unchoked };
    }
    if (end.kind === "timed-out" && options.mayGoOn?.() === true) {
      this.#process = undefined;
      return { end: { kind: "goes-on", process: shell, end: call }, unchoked };
    }
    await this.#end();
    return { end, unchoked };
  }

  /** Ends an unusable shell. True when programs that it had started were the cause. */
  async #makeRoom(): Promise<boolean> {
    if (this.#process?.isAlive === false) await this.#end();
    const choked = this.#process ? await this.#process.isChoked() : !(await canStartProcess(this.#options));
    if (!choked) return false;
    // First, because all the rest is slow as long as they have the processor.
    await killLeftovers({ mark: noMark, ownsPidNamespace: this.#options.ownsPidNamespace });
    await this.#end();
    return true;
  }
}

type Stopped = { readonly kind: "timed-out" | "cancelled" };

async function untilStopped(call: Promise<CallEnd>, { timeoutMs, signal }: CallOptions): Promise<CallEnd | Stopped> {
  const { promise: stopped, resolve } = Promise.withResolvers<Stopped>();
  const timer = setTimeout(() => resolve({ kind: "timed-out" }), timeoutMs);
  const cancel = (): void => resolve({ kind: "cancelled" });
  signal.addEventListener("abort", cancel, { once: true });
  try {
    return await Promise.race([call, stopped]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
  }
}
