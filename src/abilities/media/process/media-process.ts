import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { Duplex } from "node:stream";

import { killGroup } from "../../../lib/process/kill-group.ts";
import { readLines } from "../../../lib/process/read-lines.ts";
import { parseJson } from "../../../lib/text/parse-json.ts";
import { MediaError } from "../operations.ts";
import { type MediaLaunch } from "./launch.ts";
import { answerLine, type AnswerLine, lineLimits, type RequestLine } from "./lines.ts";

export interface MediaProcessLimits {
  /** For one request, the start of the process included. */
  readonly requestMs: number;
  readonly memoryMb: number;
}

/** How often a process at work is weighed. */
const weighingMs = 100;

/**
 * One life of the media process, in a process group of its own. It answers one request after another; it is killed when
 * it takes too long, holds too much or does not keep to the rules, and when this is disposed. What it prints goes
 * nowhere.
 */
export class MediaProcess implements AsyncDisposable {
  /** Resolves when it has ended, with the reason. */
  readonly exited: Promise<string>;
  readonly #child: ChildProcess;
  readonly #line: Duplex;
  readonly #limits: MediaProcessLimits;
  #killedFor: string | undefined;
  #answered: PromiseWithResolvers<AnswerLine> | undefined;

  constructor({ program, args }: MediaLaunch, limits: MediaProcessLimits) {
    this.#limits = limits;
    this.#child = spawn(program, args, {
      cwd: "/",
      env: {},
      detached: true,
      stdio: ["ignore", "ignore", "ignore", "pipe"],
    });
    this.#line = this.#child.stdio[3] as Duplex;
    this.#line.on("error", () => undefined);
    const onFault = (reason: string): void => this.kill(reason);
    readLines(this.#line, { ...lineLimits, onLine: (line) => this.#take(line.toString("utf8")), onFault });
    this.exited = this.#end();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Rejects with a MediaError when the process ends instead. */
  async ask(request: RequestLine, requestMs = this.#limits.requestMs): Promise<AnswerLine> {
    const answered = (this.#answered = Promise.withResolvers<AnswerLine>());
    const deadline = setTimeout(() => this.kill(`it took longer than ${requestMs / 1000} seconds`), requestMs);
    const weighing = setInterval(() => void this.#weigh(), weighingMs);
    try {
      if (!this.#line.destroyed) this.#line.write(`${JSON.stringify(request)}\n`);
      const ended = this.exited.then((why): never => {
        throw new MediaError("failed", `the process that reads such files has ended (${why})`);
      });
      const answer = await Promise.race([answered.promise, ended]);
      if (answer.id === request.id) return answer;
      this.kill("it answered what was not asked");
      return await ended;
    } finally {
      clearTimeout(deadline);
      clearInterval(weighing);
      this.#answered = undefined;
    }
  }

  /** Ends it at once; `reason` is what those hear who wait for it. */
  kill(reason: string): void {
    this.#killedFor ??= reason;
    killGroup(this.#child);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill("it is not needed any more");
    await this.exited;
  }

  #take(line: string): string | undefined {
    if (this.#killedFor !== undefined) return undefined;
    const answer = answerLine.safeParse(parseJson(line)).data;
    if (answer === undefined) return "it sent what is no answer";
    if (this.#answered === undefined) return "it answered what was not asked";
    this.#answered.resolve(answer);
    return undefined;
  }

  /** Linux tells what a process holds; elsewhere only its heap is bounded. */
  async #weigh(): Promise<void> {
    const text = await readFile(`/proc/${this.#child.pid}/status`, "utf8").catch(() => "");
    const heldMb = Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) / 1024;
    const { memoryMb } = this.#limits;
    if (heldMb > memoryMb) this.kill(`it held ${Math.round(heldMb)} MiB of memory, more than the ${memoryMb} it may`);
  }

  async #end(): Promise<string> {
    const [code, signal] = await Promise.race([
      once(this.#child, "exit") as Promise<[number | null, string | null]>,
      once(this.#child, "error").then(([error]): [string, null] => [(error as Error).message, null]),
    ]);
    this.#line.destroy();
    return this.#killedFor ?? signal ?? `code ${code}`;
  }
}
