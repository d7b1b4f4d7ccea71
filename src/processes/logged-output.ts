import type { Readable } from "node:stream";

import type { Logger } from "pino";

import { shorten, visible } from "../lib/text/visible.ts";
import type { ProcessOutput } from "./own-process.ts";

/** Options for logging the output of a process. */
export interface LoggedOutputOptions {
  readonly logger: Pick<Logger, "info" | "warn">;
  /** Facts that stand beside each line. */
  readonly about: object;
  readonly said: string;
  readonly dropped: string;
  /** Lines that are logged in a minute; the others are counted. */
  readonly linesPerMinute: number;
}

const lineChars = 500;
const minuteMs = 60_000;

/**
 * Logs what a process prints, line by line, shortened, and only so much of it. The logger takes out the secrets that it
 * knows.
 */
export class LoggedOutput implements ProcessOutput {
  readonly #options: LoggedOutputOptions;
  #minute = { began: 0, lines: 0, dropped: 0 };

  constructor(options: LoggedOutputOptions) {
    this.#options = options;
  }

  take(stream: Readable): void {
    let rest = "";
    // A character may come in two pieces.
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n");
      rest = (lines.pop() ?? "").slice(0, lineChars);
      for (const line of lines) this.#print(line);
    });
    stream.on("close", () => {
      if (rest !== "") this.#print(rest);
    });
  }

  tell(): undefined {
    return undefined;
  }

  end(): void {
    const { dropped: lines } = this.#minute;
    const { logger, about, dropped } = this.#options;
    if (lines > 0) logger.warn({ ...about, lines }, dropped);
    this.#minute.dropped = 0;
  }

  #print(line: string): void {
    const now = performance.now();
    if (now - this.#minute.began > minuteMs) {
      this.end();
      this.#minute = { began: now, lines: 0, dropped: 0 };
    }
    this.#minute.lines += 1;
    const { logger, about, said, linesPerMinute } = this.#options;
    if (this.#minute.lines > linesPerMinute) this.#minute.dropped += 1;
    else logger.info({ ...about, said: shorten(visible(line), lineChars) }, said);
  }
}
