import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { LRUCache } from "lru-cache";

import { CappedFile } from "../../lib/files/capped-file.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { RateLimiter } from "../../lib/time/rate-limiter.ts";
import { nextClosingName, sessionLogFile } from "./log-names.ts";
import { shorten, visible } from "../../lib/text/visible.ts";

/** Source of a line: the host, the agent through its mailbox, or the container's output. */
export type SessionLogSource = "host" | "agent" | "container";

export type SessionLogLevel = "debug" | "info" | "warn" | "error";

/** A line of `<home>/sessions/<session>/log.jsonl`. */
export interface SessionLogEntry {
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly group: string;
  readonly session: string;
  readonly source: SessionLogSource;
  readonly level: SessionLogLevel;
  readonly text: string;
}

/** Default maximum bytes of a file. */
const defaultFileBytes = 1024 * 1024;
const maxLineChars = 4_000;
/** Lines that a source may write at once, and per second. */
const burstLines = 500;
const linesPerSecond = 100;
/** After a flood it takes a second's worth of lines to be heard again, or each one would bring its own notice. */
const lineLimit = { count: linesPerSecond, periodMs: 1_000, burst: burstLines, reopenAt: linesPerSecond };

/** Told when output of a session begins to be cut off: more came than its bound of lines per second. */
export type FloodListener = (
  session: { readonly group: string; readonly session: string },
  linesPerSecond: number,
) => void;

/** Receiver and file size of a session's log. */
export interface SessionLogSettings {
  readonly onFlood?: FloodListener | undefined;
  /** Called when a full log was closed. Must not throw. */
  readonly onClosed?: ((session: { readonly group: string; readonly session: string }) => void) | undefined;
  readonly fileBytes?: number | undefined;
}

/**
 * Log of a session, for `crabpot logs`: appended immediately, with bounded size and rate per source. Agents' output is
 * hostile: control and bidi characters are escaped, long lines cut, floods cut off with a line that says so and later
 * their size.
 */
export class SessionLog {
  readonly #file: CappedFile;
  readonly #names: { readonly group: string; readonly session: string };
  readonly #clock: Clock;
  readonly #onFlood: FloodListener | undefined;
  readonly #limiter = new RateLimiter(lineLimit);

  /** `folder` is the session's own (`<home>/sessions/<session>`) and is made if it is missing. */
  constructor(
    folder: string,
    names: { readonly group: string; readonly session: string },
    clock: Clock,
    { onFlood, onClosed, fileBytes = defaultFileBytes }: SessionLogSettings = {},
  ) {
    this.#onFlood = onFlood;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#file = new CappedFile(join(folder, sessionLogFile), fileBytes, {
      nextPath: () => join(folder, nextClosingName(folder)),
      closed: () => onClosed?.(this.#names),
    });
    this.#names = { group: names.group, session: names.session };
    this.#clock = clock;
  }

  /** Writes a line; `at`: time in milliseconds since 1970, now by default. False: it was left out. */
  write(source: SessionLogSource, level: SessionLogLevel, text: string, at: number = this.#clock.now()): boolean {
    const { waitMs, refused } = this.#limiter.take(this.#clock.monotonic(), source);
    if (waitMs > 0) {
      if (refused > 1) return false;
      this.#append(source, "warn", "Output comes too fast; lines are left out.", at);
      this.#onFlood?.(this.#names, linesPerSecond);
      return false;
    }
    if (refused > 0) this.#append(source, "warn", `${refused} lines were left out.`, at);
    this.#append(source, level, text, at);
    return true;
  }

  /**
   * Takes a byte stream in pieces and writes its lines; call `end` when it is over, for a last line without line break.
   * Behind a line that was left out, those of the same piece are only counted: a program prints millions a second.
   */
  outputOf(source: SessionLogSource): { push(bytes: Uint8Array): void; end(): void } {
    const decoder = new TextDecoder();
    let rest = "";
    const writeLine = (line: string): boolean => {
      const text = line.replace(/\r$/, "");
      return text === "" || this.write(source, "info", text);
    };
    return {
      push: (bytes) => {
        const text = rest + decoder.decode(bytes, { stream: true });
        const last = text.lastIndexOf("\n");
        for (let at = 0; at <= last;) {
          const end = text.indexOf("\n", at);
          const isWritten = writeLine(text.slice(at, end));
          at = end + 1;
          if (isWritten) continue;
          this.#limiter.refuse(source, countLines(text, at, last));
          break;
        }
        rest = text.slice(last + 1);
        if (rest.length > maxLineChars) {
          writeLine(rest);
          rest = "";
        }
      },
      end: () => {
        writeLine(rest + decoder.decode());
        rest = "";
      },
    };
  }

  #append(source: SessionLogSource, level: SessionLogLevel, text: string, at: number): void {
    const entry: SessionLogEntry = {
      time: new Date(at).toISOString(),
      ...this.#names,
      source,
      level,
      text: visible(shorten(text, maxLineChars)),
    };
    this.#file.append(JSON.stringify(entry));
  }
}

/** Number of lines with something in them between two positions, the second of which is the last line break. */
function countLines(text: string, from: number, last: number): number {
  let count = 0;
  for (let at = from; at <= last;) {
    const end = text.indexOf("\n", at);
    if (end > at && !(end === at + 1 && text[at] === "\r")) count += 1;
    at = end + 1;
  }
  return count;
}

/** Maximum remembered logs; each sub-agent's run has a session. */
const rememberedLogs = 1_024;

/** One log per session, made when it is first asked for. */
export class SessionLogs {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #settings: SessionLogSettings;
  readonly #logs = new LRUCache<string, SessionLog>({ max: rememberedLogs });

  /** `folder` holds the sessions' folders: `<home>/sessions`. */
  constructor(folder: string, clock: Clock, settings: SessionLogSettings = {}) {
    this.#folder = folder;
    this.#clock = clock;
    this.#settings = settings;
  }

  of(session: { readonly id: string; readonly group: string }): SessionLog {
    const known = this.#logs.get(session.id);
    if (known !== undefined) return known;
    const names = { group: session.group, session: session.id };
    const log = new SessionLog(join(this.#folder, session.id), names, this.#clock, this.#settings);
    this.#logs.set(session.id, log);
    return log;
  }
}
