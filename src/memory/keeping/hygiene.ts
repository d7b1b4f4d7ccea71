import type { Logger } from "pino";

import type { Group } from "../../domain/group.ts";
import type { Publish } from "../../events/event.ts";
import { toError } from "../../lib/app-error.ts";
import { PendingWork } from "../../lib/pending-work.ts";
import { type Clock, clockSlackMs } from "../../lib/time/clock.ts";
import { Timers } from "../../lib/time/timers.ts";
import type { Cutoffs } from "../file/cleaning.ts";
import type { MemoryAt } from "../thread/memory-desk.ts";

/** What `memory.hygiene` says. */
export interface HygieneSettings {
  /** 0: never. */
  readonly everyHours: number;
  readonly keepDays: Readonly<Record<string, number>>;
}

export interface HygieneOptions {
  readonly settings: () => HygieneSettings;
  readonly memoryOf: (group: string) => MemoryAt;
  /** Nothing waits and nothing runs in the group. */
  readonly isIdle: (group: Group) => Promise<boolean>;
  readonly clock: Pick<Clock, "now">;
  readonly publish: Publish<"memory.cleaned">;
  readonly logger: Logger;
  /** How long a group has to be quiet. */
  readonly quietMs?: number | undefined;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const usualQuietMs = 5_000;
/** The clock may be set, or the machine sleep: nobody waits longer for a timer that was set before. */
const longestMs = hourMs;
/** After a failure, such as a disk that is full. */
const retryMs = 5 * 60_000;

/** When a group's memory is to be cleaned next; undefined: never. One that was cleaned in the future counts as never cleaned. */
export function nextCleaning(cleaned: number, { everyHours }: HygieneSettings, now: number): number | undefined {
  if (everyHours === 0) return undefined;
  return cleaned > now + clockSlackMs ? now : cleaned + everyHours * hourMs;
}

/**
 * Removes old memories for good, a group at a time, when it is quiet and its time has come. When that was last stands in the file of the
 * memory, and so does a cleaning that has begun: after a crash it goes on, and what goes is told once. It is told before anything goes.
 */
export class Hygiene implements AsyncDisposable {
  readonly #options: HygieneOptions;
  readonly #timers = new Timers();
  /** By group. */
  readonly #waiting = new Map<string, Disposable>();
  readonly #working = new Set<string>();
  readonly #pending: PendingWork;
  #isOver = false;

  constructor(options: HygieneOptions) {
    this.#options = options;
    this.#pending = new PendingWork((error) =>
      options.logger.error({ err: toError(error) }, "old memories could not be removed"),
    );
  }

  /** Something was kept, or the settings have changed: sees when the group's memory is to be cleaned. */
  stirred(group: Group, { cleaned }: { readonly cleaned: number }): void {
    this.#stopWaiting(group);
    const next = nextCleaning(cleaned, this.#options.settings(), this.#options.clock.now());
    if (next === undefined || this.#working.has(group.name)) return;
    this.#wait(group, Math.max(next - this.#options.clock.now(), this.#quietMs));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    this.#timers[Symbol.dispose]();
    await this.#pending.done();
  }

  get #quietMs(): number {
    return this.#options.quietMs ?? usualQuietMs;
  }

  #stopWaiting({ name }: Group): void {
    this.#waiting.get(name)?.[Symbol.dispose]();
    this.#waiting.delete(name);
  }

  #wait(group: Group, ms: number): void {
    this.#stopWaiting(group);
    const timer = this.#timers.after(Math.min(ms, longestMs), () => {
      this.#waiting.delete(group.name);
      if (!this.#working.has(group.name)) this.#pending.add(this.#look(group));
    });
    this.#waiting.set(group.name, timer);
  }

  async #look(group: Group): Promise<void> {
    this.#working.add(group.name);
    let inMs = retryMs;
    try {
      inMs = await this.#cleanIfDue(group);
    } catch (error) {
      const about = { err: toError(error), group: group.name };
      if (!this.#isOver)
        this.#options.logger.warn(about, "old memories could not be removed; it is tried again later");
    } finally {
      this.#working.delete(group.name);
    }
    if (this.#options.settings().everyHours > 0) this.#wait(group, inMs);
  }

  /** Gives how long it is until it has to look again. */
  async #cleanIfDue(group: Group): Promise<number> {
    const { settings, memoryOf, clock, isIdle } = this.#options;
    const memory = memoryOf(group.name);
    const next = nextCleaning((await memory.standing()).cleaned, settings(), clock.now());
    if (next === undefined) return longestMs;
    if (next > clock.now()) return Math.max(next - clock.now(), this.#quietMs);
    if (!(await isIdle(group))) return this.#quietMs;
    const isDone = await this.#clean(group, memory);
    return isDone ? Math.max(settings().everyHours * hourMs, this.#quietMs) : this.#quietMs;
  }

  /** False: somebody wants something of the group; the rest comes when it is quiet again. */
  async #clean(group: Group, memory: MemoryAt): Promise<boolean> {
    const { settings, clock, publish, logger } = this.#options;
    const cutoffs = toCutoffs(settings(), clock.now());
    const { run, isAnnounced, categories, superseded } = await memory.planCleaning(clock.now(), cutoffs);
    const count = Object.values(categories).reduce((sum, some) => sum + some, superseded);
    if (!isAnnounced && count > 0) {
      const data = { run: new Date(run).toISOString(), categories, superseded };
      await publish({ type: "memory.cleaned", group: group.name, actor: "host", data });
      await memory.noteAnnounced();
    }
    while ((await memory.cleanSome(cutoffs)) > 0) if (await this.#isWanted(group)) return false;
    for (let after: number | undefined = 0; after !== undefined;) {
      const { next, isRewritten } = await memory.checkIndex(after);
      if (isRewritten) logger.warn({ group: group.name }, "the index of a memory did not fit it and was made anew");
      if (await this.#isWanted(group)) return false;
      after = next;
    }
    await memory.endCleaning(clock.now());
    if (count > 0) logger.info({ group: group.name, categories, superseded }, "old memories were removed");
    return true;
  }

  async #isWanted(group: Group): Promise<boolean> {
    return this.#isOver || !(await this.#options.isIdle(group));
  }
}

function toCutoffs({ keepDays }: HygieneSettings, now: number): Cutoffs {
  return Object.fromEntries(Object.entries(keepDays).map(([category, days]) => [category, now - days * dayMs]));
}
