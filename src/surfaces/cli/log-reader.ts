import { watch } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { open, readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

import type { SessionLogEntry } from "../../records/session-logs/session-log.ts";
import { fullLogsAmong, sessionLogFile } from "../../records/session-logs/log-names.ts";

/** A line of a log as it is shown: from a session's log, or from the host's own (`source: "crabpot"`). */
export type LogLine = Omit<SessionLogEntry, "source" | "session" | "group"> & {
  readonly source: SessionLogEntry["source"] | "crabpot";
  readonly group?: string | undefined;
  readonly session?: string | undefined;
};

export interface LogQuery {
  readonly sessionsFolder: string;
  readonly hostLog: string;
  /** Only lines about this group. */
  readonly group?: string | undefined;
  /** Only lines since then, milliseconds since 1970. */
  readonly since?: number | undefined;
}

/** The newest lines of all logs, oldest first. Reads whole files: they are of bounded size. */
export async function readLogs(query: LogQuery, last: number): Promise<LogLine[]> {
  return newest(await new Tails(query).read(), last);
}

/**
 * The same, then lines as they are written, none twice and none left out, until the signal. New sessions are found as
 * they start.
 */
export async function* followLogs(query: LogQuery, last: number, signal: AbortSignal): AsyncGenerator<LogLine> {
  const tails = new Tails(query);
  const changes = new Changes(signal);
  // Watched first, read then: what is written in between is read twice by nobody and missed by nobody.
  changes.watch(await watchedFolders(query));
  yield* newest(await tails.read(), last);
  while (!signal.aborted) {
    await changes.next();
    changes.watch(await watchedFolders(query));
    yield* await tails.read();
  }
}

function newest(lines: readonly LogLine[], last: number): LogLine[] {
  const inOrder = lines.toSorted((one, other) => (one.time < other.time ? -1 : Number(one.time > other.time)));
  return inOrder.slice(Math.max(0, inOrder.length - last));
}

async function watchedFolders(query: LogQuery): Promise<string[]> {
  return [query.sessionsFolder, ...(await logFiles(query)).map((file) => dirname(file.path))];
}

interface LogFile {
  readonly path: string;
  readonly host: boolean;
}

async function logFiles(query: LogQuery): Promise<LogFile[]> {
  const sessions = await readdir(query.sessionsFolder).catch(() => []);
  const files = sessions.map((session) => ({ path: join(query.sessionsFolder, session, sessionLogFile), host: false }));
  return [...files, { path: query.hostLog, host: true }];
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r");
  } catch {
    return undefined;
  }
}

/** Parses log lines, skipping an incomplete last line and foreign lines. */
function parseLines(text: string, host: boolean): LogLine[] {
  return text.split("\n").flatMap((line) => {
    const entry = parseObject(line);
    if (entry === undefined || typeof entry["time"] !== "string") return [];
    return [host ? fromHostLog(entry) : fromSessionLog(entry)];
  });
}

function parseObject(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Written by SessionLog, and only by it: containers do not see these files. */
function fromSessionLog(entry: Record<string, unknown>): LogLine {
  return entry as unknown as SessionLogEntry;
}

function fromHostLog(entry: Record<string, unknown>): LogLine {
  const { time, level, msg, group, session, ...fields } = entry;
  const rest = Object.keys(fields).length === 0 ? "" : ` ${JSON.stringify(fields)}`;
  return {
    time: String(time),
    level: level as LogLine["level"],
    source: "crabpot",
    text: `${typeof msg === "string" ? msg : ""}${rest}`,
    ...(typeof group === "string" ? { group } : {}),
    ...(typeof session === "string" ? { session } : {}),
  };
}

/** All logs, read on from where they were left. */
class Tails {
  readonly #query: LogQuery;
  readonly #tails = new Map<string, Tail>();

  constructor(query: LogQuery) {
    this.#query = query;
  }

  async read(): Promise<LogLine[]> {
    const lines: LogLine[] = [];
    for (const file of await logFiles(this.#query)) {
      const tail = this.#tails.get(file.path) ?? new Tail(file);
      this.#tails.set(file.path, tail);
      lines.push(...(await tail.read()));
    }
    const { group, since } = this.#query;
    return lines.filter(
      (line) =>
        (group === undefined || line.group === group) && (since === undefined || Date.parse(line.time) >= since),
    );
  }
}

/** Reads what was added to a file since the last time; the first time, all of it and of the full one before it. */
class Tail {
  readonly #file: LogFile;
  #offset = 0;
  #inode: number | undefined;

  constructor(file: LogFile) {
    this.#file = file;
  }

  async read(): Promise<LogLine[]> {
    const handle = await openIfThere(this.#file.path);
    if (handle === undefined) return [];
    try {
      const { ino } = await handle.stat();
      const before = ino === this.#inode ? "" : await this.#restOfFull();
      this.#inode = ino;
      return parseLines(before + (await this.#readFrom(handle)), this.#file.host);
    } finally {
      await handle.close();
    }
  }

  /** Unread rest of files that became full. */
  async #restOfFull(): Promise<string> {
    const texts: string[] = [];
    for (const path of await this.#unread()) {
      await using handle = await openIfThere(path);
      if (handle !== undefined) texts.push(await this.#readFrom(handle));
      this.#offset = 0;
    }
    this.#offset = 0;
    return texts.join("");
  }

  /** Full files from the one on that was read last; the first time, the newest one. */
  async #unread(): Promise<string[]> {
    const full = await this.#fullFiles();
    if (this.#inode === undefined) return full.slice(-1);
    const inodes = await Promise.all(full.map(async (path) => (await stat(path).catch(() => undefined))?.ino));
    const last = inodes.lastIndexOf(this.#inode);
    if (last >= 0) return full.slice(last);
    this.#offset = 0;
    // Older ones are removed first.
    return this.#file.host ? [] : full;
  }

  /** Oldest first. */
  async #fullFiles(): Promise<string[]> {
    const { path, host } = this.#file;
    if (host) return [`${path}.1`];
    const folder = dirname(path);
    const names = await readdir(folder).catch(() => []);
    return fullLogsAmong(names).map(({ name }) => join(folder, name));
  }

  /** Whole lines only; the offset stays behind the last line break. */
  async #readFrom(handle: FileHandle): Promise<string> {
    const { size } = await handle.stat();
    if (size <= this.#offset) return "";
    const { buffer, bytesRead } = await handle.read({
      buffer: Buffer.alloc(size - this.#offset),
      position: this.#offset,
    });
    const whole = buffer.subarray(0, buffer.subarray(0, bytesRead).lastIndexOf(0x0a) + 1);
    this.#offset += whole.length;
    return whole.toString("utf8");
  }
}

/** Wakes its reader when something in a watched folder changes; changes that come in between are not forgotten. */
class Changes {
  readonly #signal: AbortSignal;
  readonly #watched = new Set<string>();
  #pending = false;
  #wake: (() => void) | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#changed(), { once: true });
  }

  watch(folders: readonly string[]): void {
    for (const folder of folders) if (!this.#watched.has(folder) && !this.#signal.aborted) this.#watchOne(folder);
  }

  #watchOne(folder: string): void {
    try {
      const watcher = watch(folder, { signal: this.#signal }, () => this.#changed());
      watcher.on("error", () => this.#watched.delete(folder));
      this.#watched.add(folder);
    } catch {
      // The folder is missing (yet): its parent is watched too and brings us here again.
    }
  }

  async next(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    if (this.#pending || this.#signal.aborted) resolve();
    await promise;
    this.#pending = false;
  }

  #changed(): void {
    this.#pending = true;
    this.#wake?.();
  }
}
