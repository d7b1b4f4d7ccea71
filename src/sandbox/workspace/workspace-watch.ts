import type { Logger } from "pino";

import type { FolderUsage, LimitHit } from "../../domain/turns/limit.ts";
import { AppError } from "../../lib/app-error.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { mebibyte } from "../../lib/text/bytes.ts";

export interface WatchedContainer {
  readonly group: string;
  readonly session: string;
  readonly busy: boolean;
}

/** Room for bytes, and for files, folders and links. */
export type FreeSpace = FolderUsage;

export interface WorkspaceWatchOptions {
  readonly limitBytes: number;
  readonly measure: (group: string, signal: AbortSignal) => Promise<FolderUsage | undefined>;
  /** Free space of the folders' file system. Called every few seconds, so it must be cheap. */
  readonly free: () => Promise<FreeSpace>;
  readonly hot: () => readonly WatchedContainer[];
  /** Ends a container that has taken too much; the watch does not wait for it. */
  readonly exceeded: (container: WatchedContainer, hit: LimitHit) => Promise<void>;
  readonly logger: Logger;
  readonly intervalMs?: number;
  /** Folder to measure; the group's folder by default. */
  readonly describe?: (group: string) => MeasuredFolder;
}

/** A folder with a quota, for messages. */
export interface MeasuredFolder {
  /** At the beginning of a sentence. */
  readonly what: string;
  /** Below the home. */
  readonly place: string;
  /** Action that is refused while the folder is too large. */
  readonly refused: string;
  /** Another way to make room, besides removing files. */
  readonly otherwise?: string | undefined;
}

const groupFolder = (group: string): MeasuredFolder => ({
  what: "The group's folder",
  place: `groups/${group}`,
  refused: "No agent is started here",
  otherwise: `decide what waits in its folders with review (${ownCommand(`mounts diff ${group}`)})`,
});

/**
 * A folder of small files: more than this for each MiB of the quota, and the file system's own tables are the target.
 */
const entriesPerMebibyte = 256;
/** Time between two looks at the free space, each a single system call. */
const usualIntervalMs = 2_000;
/** Rounds after which an active group is measured without a hint. */
const roundsBetweenLooks = 30;

/**
 * Quota of groups' folders, measured because the host's file system has no quota for a folder. Free space costs one
 * system call, measuring two processes: a folder is measured when enough space has gone for its group to have used it,
 * and now and then after a turn. A group over quota loses its container until there is room.
 */
export class WorkspaceWatch implements AsyncDisposable {
  readonly #options: WorkspaceWatchOptions;
  readonly #life = new AbortController();
  readonly #timer: NodeJS.Timeout;
  /** Groups whose folder was within the quota when it was last measured, and what was free then. */
  readonly #within = new Map<string, FreeSpace>();
  /** Groups that had a turn since they were measured. */
  readonly #due = new Set<string>();
  #rounds = 0;
  #looking: Promise<void> | undefined;

  constructor(options: WorkspaceWatchOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#look(), options.intervalMs ?? usualIntervalMs);
    this.#timer.unref();
  }

  /** Throws `too_large`, with what to do about it, when the group may not work until there is room again. */
  async admit(group: string): Promise<void> {
    const free = await this.#options.free();
    // Measuring a large folder takes a second, for which nobody should wait at each message.
    if (!this.#hasShrunk(group, free)) return;
    const hit = await this.#hitOf(group, free);
    if (hit) throw new AppError("too_large", hit.text);
  }

  /** The group's turn is over: it is measured soon, at once if much space is gone. */
  released(group: string): void {
    this.#due.add(group);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#life.abort(new Error("the host is stopping"));
    await this.#looking;
  }

  /** One look at a time: a slow one is not joined by others. */
  #look(): void {
    if (this.#looking !== undefined || this.#life.signal.aborted) return;
    this.#looking = this.#lookAround()
      .catch((error: unknown) => {
        if (!this.#life.signal.aborted) this.#options.logger.error({ error }, "groups' folders could not be measured");
      })
      .finally(() => (this.#looking = undefined));
  }

  async #lookAround(): Promise<void> {
    const free = await this.#options.free();
    this.#rounds += 1;
    const isRound = this.#rounds % roundsBetweenLooks === 0;
    const hot = new Map(this.#options.hot().map((container) => [container.group, container]));
    for (const group of new Set([...hot.keys(), ...this.#due])) {
      const container = hot.get(group);
      const isTime = isRound && (this.#due.has(group) || container?.busy === true);
      if (!isTime && !this.#hasShrunk(group, free)) continue;
      const hit = await this.#hitOf(group, free);
      if (hit && container) await this.#options.exceeded(container, hit);
    }
  }

  /** True when enough space has gone since the last measurement for the group to have used it. */
  #hasShrunk(group: string, now: FreeSpace): boolean {
    const { limitBytes } = this.#options;
    const then = this.#within.get(group);
    if (then === undefined) return true;
    const bytes = Math.min(64 * mebibyte, limitBytes / 4);
    return then.bytes - now.bytes > bytes || then.entries - now.entries > entriesWithin(limitBytes) / 4;
  }

  async #hitOf(group: string, free: FreeSpace): Promise<LimitHit | undefined> {
    this.#due.delete(group);
    const hit = await this.#measure(group);
    if (hit === undefined) this.#within.set(group, free);
    else this.#within.delete(group);
    return hit;
  }

  async #measure(group: string): Promise<LimitHit | undefined> {
    const { limitBytes } = this.#options;
    const usage = await this.#options.measure(group, this.#life.signal);
    const most = entriesWithin(limitBytes);
    const { what, place, refused, otherwise } = (this.#options.describe ?? groupFolder)(group);
    const other = otherwise === undefined ? "" : `, ${otherwise}`;
    const advice = `${refused} until there is room again. The operator can check with: du -xh --max-depth=2 "$CRABPOT_HOME/${place}" | sort -h, and remove files${other}, or raise sandbox.workspaceMb.`;
    if (usage !== undefined && usage.bytes > limitBytes) {
      const text = `${what} holds ${spoken(usage.bytes)}; the limit is ${spoken(limitBytes)}. ${advice}`;
      return { limit: "workspace", value: usage.bytes, text };
    }
    if (usage !== undefined && usage.entries <= most) return undefined;
    const holds = usage === undefined ? "too many files to be counted" : `${usage.entries} files and folders`;
    const text = `${what} holds ${holds}, and ${most} is the most it may hold. ${advice}`;
    return { limit: "workspace-files", value: usage?.entries ?? most, text };
  }
}

function entriesWithin(limitBytes: number): number {
  return Math.floor(limitBytes / mebibyte) * entriesPerMebibyte;
}

function spoken(bytes: number): string {
  return bytes >= 1024 * mebibyte
    ? `${(bytes / mebibyte / 1024).toFixed(1)} GiB`
    : `${Math.ceil(bytes / mebibyte)} MiB`;
}
