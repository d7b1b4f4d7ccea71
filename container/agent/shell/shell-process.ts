import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";

import { EndMarkFinder } from "./end-mark.ts";
import { OutputPipe } from "./output-pipe.ts";
import { canStartProcess, groupEnds, isCrowded, killLeftovers, signalProcess } from "./processes.ts";
import type { ProcessScope } from "./processes.ts";
import { callScript, openingScript, parseReport, shellMark } from "./script.ts";
import type { CallReport, ShellState } from "./script.ts";

export interface ShellProcessOptions {
  /** Working folder and environment of a new shell without saved state. */
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly state: ShellState | undefined;
  /** A folder that can be written. */
  readonly temporary: string;
  /** See `ProcessScope`. */
  readonly ownsPidNamespace: boolean;
  /** See `ProcessScope`. */
  readonly spared?: ProcessScope["spared"];
}

export type CallEnd =
  | { readonly kind: "completed"; readonly report: CallReport }
  /** The shell itself is gone: `exit`, `exec`, a signal. */
  | { readonly kind: "ended"; readonly exitCode: number | undefined; readonly signal: string | undefined }
  /** Too many processes; what the shell started keeps the container from working. */
  | { readonly kind: "choked" };

const killGraceMs = 500;
/** A kernel that does not end a killed process by then (a hung file system) is not waited for. */
const exitWaitMs = 2_000;
const maxReportBytes = 4 * 1024 * 1024;
/** Message of bash when the kernel refuses another process. */
const forkFailure = "fork: retry: Resource temporarily unavailable";

/** One life of bash. Calls must not overlap; after a call that did not complete, `end` it and start another. */
export class ShellProcess {
  readonly #child: ChildProcess;
  readonly #pipe: OutputPipe;
  #scope: ProcessScope;
  #ending: Promise<void> | undefined;
  readonly #exited: Promise<Extract<CallEnd, { kind: "ended" }>>;
  readonly #finder = new EndMarkFinder();
  #report: Buffer = Buffer.alloc(0);
  #onReport: (report: CallReport) => void = () => {};
  #onChoked: () => void = () => {};
  #forkFailed = false;
  #counting = false;

  private constructor(child: ChildProcess, pipe: OutputPipe, scope: ProcessScope) {
    this.#child = child;
    this.#pipe = pipe;
    this.#scope = scope;
    this.#exited = exitOf(child);
    pipe.onChunk((chunk) => this.#output(chunk));
    const control = child.stdio[3];
    if (control instanceof Readable) control.on("data", (chunk: Buffer) => this.#control(chunk));
    for (const stream of child.stdio) stream?.on("error", () => {});
  }

  /** Throws what `spawn` says, such as EAGAIN when no more processes may be started. */
  static async start(options: ShellProcessOptions): Promise<ShellProcess> {
    const mark = randomBytes(12).toString("hex");
    const pipe = await OutputPipe.open(options.temporary);
    try {
      const child = spawn("/bin/bash", ["--noprofile", "--norc"], {
        cwd: options.workingDirectory,
        env: { ...(options.state ? {} : options.environment), [shellMark]: mark },
        detached: true,
        stdio: ["pipe", pipe.childDescriptor, "ignore", "pipe"],
      });
      await once(child, "spawn");
      const shell = new ShellProcess(child, pipe, { ...options, mark });
      child.stdin?.write(openingScript(mark, options.state));
      return shell;
    } catch (error) {
      pipe[Symbol.dispose]();
      throw error;
    } finally {
      pipe.closeChildDescriptor();
    }
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Environment mark of all its processes. */
  get mark(): string {
    return this.#scope.mark;
  }

  /** From now on other shells run beside it: when it ends, only what carries its mark ends with it. */
  leaveOthersAlone(): void {
    this.#scope = { mark: this.#scope.mark, ownsPidNamespace: false };
  }

  /** Whether what it started leaves no room for other processes. */
  async isChoked(): Promise<boolean> {
    return !(await canStartProcess(this.#scope)) || (this.#forkFailed && (await isCrowded(this.#scope)));
  }

  /** Runs one command; what it prints goes to `onOutput` until the promise resolves. Never rejects. */
  async run(command: string, onOutput: (chunk: Buffer) => void): Promise<CallEnd> {
    const endMark = `\x1e${randomBytes(16).toString("hex")}\x1e`;
    const report = Promise.withResolvers<CallReport>();
    const choked = Promise.withResolvers<CallEnd>();
    this.#report = Buffer.alloc(0);
    this.#onReport = report.resolve;
    this.#onChoked = () => choked.resolve({ kind: "choked" });
    const printed = this.#finder.expect(endMark, onOutput);
    this.#child.stdin?.write(callScript(command, endMark));
    const completed = Promise.all([report.promise, printed]).then(([done]): CallEnd => ({
      kind: "completed",
      report: done,
    }));
    const end = await Promise.race([completed, this.#exited, choked.promise]);
    if (end.kind === "ended") await this.#flush();
    return end;
  }

  /**
   * Ends the shell and whatever it started: asks, waits a moment, kills. What the running call printed still reaches
   * it. Idempotent.
   */
  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    const group = this.#child.pid;
    if (group !== undefined) {
      signalProcess(-group, "SIGTERM");
      if (!(await groupEnds(group, killGraceMs))) signalProcess(-group, "SIGKILL");
    }
    await killLeftovers(this.#scope);
    await Promise.race([this.#exited, delay(exitWaitMs, undefined, { ref: false })]);
    await this.#flush();
    this.#pipe[Symbol.dispose]();
    for (const stream of this.#child.stdio) stream?.destroy();
  }

  /** Puts the end mark where the dead shell would have put it, so that nothing it printed is lost. */
  async #flush(): Promise<void> {
    const { expected, found } = this.#finder;
    if (expected === undefined) return;
    for (let attempt = 0; attempt < 100 && !this.#pipe.write(expected); attempt += 1) await delay(5);
    await Promise.race([found, delay(exitWaitMs, undefined, { ref: false })]);
  }

  #output(chunk: Buffer): void {
    this.#finder.read(chunk);
    if (!chunk.includes(forkFailure)) return;
    this.#forkFailed = true;
    if (!this.#counting) void this.#countProcesses();
  }

  async #countProcesses(): Promise<void> {
    this.#counting = true;
    if (await isCrowded(this.#scope).catch(() => false)) this.#onChoked();
    this.#counting = false;
  }

  #control(chunk: Buffer): void {
    this.#report = Buffer.concat([this.#report, chunk]);
    const report = parseReport(this.#report);
    if (report) this.#onReport(report);
    else if (this.#report.length > maxReportBytes) this.#child.kill("SIGKILL");
  }
}

async function exitOf(child: ChildProcess): Promise<Extract<CallEnd, { kind: "ended" }>> {
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  return { kind: "ended", exitCode: code ?? undefined, signal: signal ?? undefined };
}
