import { randomInt } from "node:crypto";

import { limits } from "../../../src/protocol/limits.ts";
import type { AgentPayload, JobLimits } from "../../../src/protocol/messages.ts";
import { ShellProcess } from "../shell/shell-process.ts";
import type { CallEnd, ShellProcessOptions } from "../shell/shell-process.ts";
import { JobOutput } from "./job-output.ts";

/** Jobs that are over and still can be looked at. */
const keptEnded = 8;
/** Lines of output that the host is told at the end. */
const reportedLines = 40;

const chokedNotice = new TextEncoder().encode("[ended: too many processes]\n");

type JobEnded = Extract<AgentPayload, { type: "job-ended" }>;

/** A detached call with its bash, which runs nothing else. */
export interface DetachedCall {
  readonly process: ShellProcess;
  readonly end: Promise<CallEnd>;
}

/** A command that runs, or ran, in the background. Times are milliseconds since 1970. */
export interface Job {
  readonly id: string;
  readonly command: string;
  readonly startedAt: number;
  readonly output: JobOutput;
  readonly state: "running" | JobEnded["outcome"];
  readonly exitCode: number | undefined;
  readonly endedAt: number | undefined;
}

interface OwnJob extends Job {
  state: Job["state"];
  exitCode: number | undefined;
  endedAt: number | undefined;
  readonly process: ShellProcess;
  /** Reason of an ending from outside, and whether the model asked for it. */
  ending: { readonly outcome: "stopped" | "expired"; readonly toldModel: boolean } | undefined;
  /** Resolves when the host has been told about its end. */
  over: Promise<void>;
}

export interface JobsOptions {
  /** Folder of outputs. */
  readonly folder: string;
  /** Options for a job's bash. */
  readonly shell: Omit<ShellProcessOptions, "state" | "ownsPidNamespace" | "spared">;
  readonly send: (payload: AgentPayload) => Promise<void>;
  /** The host can no longer be told anything. */
  readonly onFailure: (error: unknown) => void;
}

/** Background commands, each in a separate bash and process group, until they end, are ended, or exceed their time. */
export class Jobs implements AsyncDisposable {
  readonly #options: JobsOptions;
  readonly #jobs = new Map<string, OwnJob>();
  #turn = "";
  #limits: JobLimits = { atOnce: 0, seconds: 1 };
  /** WorkSlots taken by jobs that are about to start. */
  #starting = 0;

  constructor(options: JobsOptions) {
    this.#options = options;
  }

  /** Sets the limits of jobs that begin from now on. */
  turnBegins(turn: string, allowed: JobLimits | undefined): void {
    this.#turn = turn;
    this.#limits = allowed ?? { atOnce: 0, seconds: 1 };
  }

  /** Reason why no further job may begin, as the end of a sentence; undefined when one may. */
  get refusal(): string | undefined {
    const { atOnce } = this.#limits;
    if (atOnce === 0) return "jobs are not allowed here";
    if (this.running().length + this.#starting < atOnce) return undefined;
    return `${atOnce} jobs run already, which is the limit`;
  }

  /** Oldest first, those that are over among them. */
  list(): readonly Job[] {
    return [...this.#jobs.values()];
  }

  running(): readonly Job[] {
    return this.list().filter(({ state }) => state === "running");
  }

  get(id: string): Job | undefined {
    return this.#jobs.get(id);
  }

  /** Environment marks of the running jobs' processes. */
  marks(): readonly string[] {
    return [...this.#jobs.values()].filter(({ state }) => state === "running").map(({ process }) => process.mark);
  }

  /**
   * Begins a command, in the directory and with the variables that the session's shell has. There must be no `refusal`.
   */
  async start(
    command: string,
    from: Pick<ShellProcessOptions, "state"> & Partial<Pick<ShellProcessOptions, "workingDirectory">>,
    seconds: number | undefined,
  ): Promise<Job> {
    this.#starting += 1;
    try {
      const shell = await ShellProcess.start({ ...this.#options.shell, ownsPidNamespace: false, ...from });
      const id = this.#newId();
      const output = new JobOutput(this.#options.folder, id);
      // On record before anything of it runs.
      await this.#tellStarted(id, command);
      const end = shell.run(command, (chunk) => output.write(chunk));
      return this.#watch({ id, command, output, call: { process: shell, end }, seconds });
    } finally {
      this.#starting -= 1;
    }
  }

  /**
   * Makes a job of a command that runs already. `printed`: what it has printed so far; `divert` gets who takes the
   * rest.
   */
  async take(
    call: DetachedCall,
    { command, printed, divert }: { command: string; printed: string; divert: (output: JobOutput) => void },
  ): Promise<Job> {
    const id = this.#newId();
    const output = new JobOutput(this.#options.folder, id);
    output.write(Buffer.from(printed));
    divert(output);
    call.process.leaveOthersAlone();
    await this.#tellStarted(id, command);
    return this.#watch({ id, command, output, call, seconds: undefined });
  }

  /** Ends it, with everything that it started. Resolves when the host was told. */
  async stop(id: string, toldModel: boolean): Promise<void> {
    await this.#end(this.#jobs.get(id), { outcome: "stopped", toldModel });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const running = [...this.#jobs.values()].filter(({ state }) => state === "running");
    await Promise.all(running.map((job) => job.process.end()));
  }

  #watch(begun: {
    readonly id: string;
    readonly command: string;
    readonly output: JobOutput;
    readonly call: DetachedCall;
    readonly seconds: number | undefined;
  }): Job {
    const { id, command, output, call } = begun;
    const job: OwnJob = {
      id,
      command,
      output,
      startedAt: Date.now(),
      state: "running",
      exitCode: undefined,
      endedAt: undefined,
      process: call.process,
      ending: undefined,
      over: Promise.resolve(),
    };
    this.#jobs.set(id, job);
    const seconds = Math.min(begun.seconds ?? Infinity, this.#limits.seconds);
    const timer = setTimeout(() => void this.#end(job, { outcome: "expired", toldModel: false }), seconds * 1_000);
    job.over = call.end
      .then((end) => this.#ended(job, end))
      .catch((error: unknown) => this.#options.onFailure(error))
      .finally(() => clearTimeout(timer));
    return job;
  }

  async #end(job: OwnJob | undefined, ending: NonNullable<OwnJob["ending"]>): Promise<void> {
    if (job?.state !== "running") return;
    job.ending ??= ending;
    await job.process.end().catch((error: unknown) => this.#options.onFailure(error));
    await job.over;
  }

  async #ended(job: OwnJob, end: CallEnd): Promise<void> {
    // Nothing that it has started outlives it.
    await job.process.end();
    if (end.kind === "choked") job.output.write(chokedNotice);
    job.exitCode = end.kind === "completed" ? end.report.exitCode : end.kind === "ended" ? end.exitCode : undefined;
    job.state = job.ending?.outcome ?? "exited";
    job.endedAt = Date.now();
    job.output.close();
    this.#forgetOldest();
    await this.#options.send({
      type: "job-ended",
      job: job.id,
      outcome: job.state,
      exitCode: job.exitCode,
      output: job.output.lastLines(reportedLines, limits.jobOutputChars),
      toldModel: job.ending?.toldModel ?? false,
    });
  }

  #forgetOldest(): void {
    const ended = [...this.#jobs.values()].filter(({ state }) => state !== "running");
    for (const job of ended.slice(0, -keptEnded)) {
      job.output.remove();
      this.#jobs.delete(job.id);
    }
  }

  async #tellStarted(job: string, command: string): Promise<void> {
    const shown = command.slice(0, limits.jobCommandChars).toWellFormed();
    await this.#options.send({ type: "job-started", turn: this.#turn, job, command: shown });
  }

  /** A digit first, so that people and programs can tell it from a word. */
  #newId(): string {
    const rest = Array.from({ length: 5 }, () => alphabet[randomInt(alphabet.length)]);
    const id = `job-${randomInt(10)}${rest.join("")}`;
    return this.#jobs.has(id) ? this.#newId() : id;
  }
}

/** Without letters that look like others. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
