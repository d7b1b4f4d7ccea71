import type { Logger } from "pino";

import type { FolderUsage, LimitHit } from "../domain/limit.ts";
import { AppError } from "../lib/app-error.ts";

export interface WatchedContainer {
  readonly group: string;
  readonly session: string;
  readonly busy: boolean;
}

export interface WorkspaceWatchParts {
  readonly limitBytes: number;
  readonly measure: (group: string, signal: AbortSignal) => Promise<FolderUsage | undefined>;
  /** Bytes that are still free where the folders are. */
  readonly freeBytes: () => Promise<number>;
  readonly hot: () => readonly WatchedContainer[];
  /** Ends a container that has taken too much; the watch does not wait for it. */
  readonly exceeded: (container: WatchedContainer, hit: LimitHit) => Promise<void>;
  readonly logger: Logger;
  readonly intervalMs: number;
}

const mebibyte = 1024 * 1024;
/** A folder of small files: more than this for each MiB of the quota, and the file system's own tables are the target. */
const entriesPerMebibyte = 256;
/** So often is a busy group measured although nothing points to it, in intervals. */
const roundsBetweenLooks = 30;

/**
 * The quota of groups' folders. A folder is on the host's own file system, which knows no quota for it, so it is measured:
 * after each turn, before it unless all was well then, while it runs, and as soon as free space shrinks fast, whoever takes
 * it. A group that is above the quota loses its container and gets none until there is room again.
 */
export class WorkspaceWatch implements AsyncDisposable {
  readonly #parts: WorkspaceWatchParts;
  readonly #life = new AbortController();
  readonly #timer: NodeJS.Timeout;
  /** Groups whose folder was within the quota when it was last measured. */
  readonly #clean = new Set<string>();
  /** Groups that had a turn since they were measured. */
  readonly #due = new Set<string>();
  #lastFree = Number.POSITIVE_INFINITY;
  #rounds = 0;
  #looking: Promise<void> | undefined;

  constructor(parts: WorkspaceWatchParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => this.#look(), parts.intervalMs);
    this.#timer.unref();
  }

  /** Throws `too_large`, with what to do about it, when the group may not work until there is room again. */
  async admit(group: string): Promise<void> {
    // Measuring a large folder takes a second, for which nobody should wait at each message.
    if (this.#clean.has(group)) return;
    const hit = await this.#hitOf(group);
    if (hit) throw new AppError("too_large", hit.text);
  }

  /** The group's turn is over: what it has left is measured now, so that its next one need not wait. */
  released(group: string): void {
    this.#clean.delete(group);
    this.#due.add(group);
    this.#look();
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
        if (!this.#life.signal.aborted) this.#parts.logger.error({ error }, "groups' folders could not be measured");
      })
      .finally(() => (this.#looking = undefined));
  }

  async #lookAround(): Promise<void> {
    const free = await this.#parts.freeBytes();
    const shrunk = this.#lastFree - free;
    this.#lastFree = free;
    this.#rounds += 1;
    const hot = this.#parts.hot();
    const isAlarm = shrunk > Math.min(64 * mebibyte, this.#parts.limitBytes / 4);
    const isDue = this.#rounds % roundsBetweenLooks === 0;
    for (const container of hot) {
      const wasDue = this.#due.delete(container.group);
      if (!wasDue && !isAlarm && !(isDue && container.busy)) continue;
      const hit = await this.#hitOf(container.group);
      if (hit) await this.#parts.exceeded(container, hit);
    }
  }

  async #hitOf(group: string): Promise<LimitHit | undefined> {
    this.#clean.delete(group);
    const hit = await this.#measure(group);
    if (hit === undefined) this.#clean.add(group);
    return hit;
  }

  async #measure(group: string): Promise<LimitHit | undefined> {
    const { limitBytes } = this.#parts;
    const usage = await this.#parts.measure(group, this.#life.signal);
    const most = Math.floor(limitBytes / mebibyte) * entriesPerMebibyte;
    const advice = `Until there is room again no agent is started here. The operator can look with: du -xh --max-depth=2 "$CRABPOT_HOME/groups/${group}" | sort -h, and remove files, or raise sandbox.workspaceMb.`;
    if (usage !== undefined && usage.bytes > limitBytes) {
      const text = `The group's folder holds ${spoken(usage.bytes)}, and ${spoken(limitBytes)} is the most it may hold. ${advice}`;
      return { limit: "workspace", value: usage.bytes, text };
    }
    if (usage !== undefined && usage.entries <= most) return undefined;
    const holds = usage === undefined ? "too many files to be counted" : `${usage.entries} files and folders`;
    const text = `The group's folder holds ${holds}, and ${most} is the most it may hold. ${advice}`;
    return { limit: "workspace-files", value: usage?.entries ?? most, text };
  }
}

function spoken(bytes: number): string {
  return bytes >= 1024 * mebibyte
    ? `${(bytes / mebibyte / 1024).toFixed(1)} GiB`
    : `${Math.ceil(bytes / mebibyte)} MiB`;
}
