import { agentNamedBy, type Group, workFolder } from "../../../domain/chats/group.ts";
import type { Publish } from "../../../domain/events/event.ts";
import { type Clock, clockSlackMs } from "../../../lib/time/clock.ts";
import type { MemorySettings } from "../config.ts";
import type { MemoryAt } from "../thread/memory-client.ts";
import { type QuietWorkOptions, WhenQuiet } from "./when-quiet.ts";
import type { Cutoffs } from "../../../processes/memory-schemas.ts";

/** Section `memory.hygiene`. */
type HygieneSettings = MemorySettings["hygiene"];

export interface HygieneOptions extends QuietWorkOptions {
  readonly settings: () => HygieneSettings;
  readonly clock: Pick<Clock, "now">;
  readonly publish: Publish<"memory.cleaned">;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Time of a group's next cleaning; undefined: never. A cleaning in the future counts as none. */
export function nextCleaning(cleaned: number, { everyHours }: HygieneSettings, now: number): number | undefined {
  if (everyHours === 0) return undefined;
  return cleaned > now + clockSlackMs ? now : cleaned + everyHours * hourMs;
}

/**
 * Removes old memories for good, a group at a time, when it is quiet and its time has come. When that was last stands
 * in the file of the memory, and so does a cleaning that has begun: after a crash it goes on. What goes is told before
 * anything does; a crash just then has it told again, under the same name.
 */
export class Hygiene implements AsyncDisposable {
  readonly #options: HygieneOptions;
  readonly #quiet: WhenQuiet;

  constructor(options: HygieneOptions) {
    this.#options = options;
    this.#quiet = new WhenQuiet({
      ...options,
      work: (group, signal) => this.#cleanIfDue(group, signal),
      failure: "old memories could not be removed; it is tried again later",
    });
  }

  /** Something was kept, or the settings have changed: sees when the group's memory is to be cleaned. */
  stirred(group: Group, { cleaned }: { readonly cleaned: number }): void {
    const now = this.#options.clock.now();
    const next = nextCleaning(cleaned, this.#options.settings(), now);
    if (next === undefined) this.#quiet.cancel(group);
    else this.#quiet.wait(group, next - now);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#quiet[Symbol.asyncDispose]();
  }

  /** Gives how long it is until it has to look again. */
  async #cleanIfDue(group: Group, signal: AbortSignal): Promise<number | undefined> {
    const { settings, memoryOf, clock } = this.#options;
    const memory = memoryOf(workFolder(group));
    const now = clock.now();
    const next = nextCleaning((await memory.standing()).cleaned, settings(), now);
    if (next === undefined) return undefined;
    if (next > now) return next - now;
    return (await this.#clean(group, memory, signal)) ? settings().everyHours * hourMs : 0;
  }

  /** False when the group became active; the rest follows when it is quiet. */
  async #clean(group: Group, memory: MemoryAt, signal: AbortSignal): Promise<boolean> {
    const { settings, clock, publish, logger, isIdle } = this.#options;
    const isWanted = async (): Promise<boolean> => signal.aborted || !(await isIdle(group));
    const cutoffs = toCutoffs(settings(), clock.now());
    const { run, isAnnounced, categories, superseded } = await memory.planCleaning(clock.now(), cutoffs);
    const count = Object.values(categories).reduce((sum, some) => sum + some, superseded);
    if (!isAnnounced && count > 0) {
      const whose = agentNamedBy(workFolder(group));
      const data = { run: new Date(run).toISOString(), categories, superseded, ...whose };
      await publish({ type: "memory.cleaned", group: group.name, actor: "host", data });
      await memory.noteAnnounced();
    }
    while ((await memory.cleanSome(cutoffs)) > 0) if (await isWanted()) return false;
    for (let after: number | undefined = 0; after !== undefined;) {
      const { next, isRewritten } = await memory.checkIndex(after);
      if (isRewritten) logger.warn({ group: group.name }, "the index of a memory did not fit it and was made anew");
      if (await isWanted()) return false;
      after = next;
    }
    await memory.endCleaning(clock.now());
    if (count > 0) logger.info({ group: group.name, categories, superseded }, "old memories were removed");
    return true;
  }
}

function toCutoffs({ keepDays }: HygieneSettings, now: number): Cutoffs {
  return Object.fromEntries(Object.entries(keepDays).map(([category, days]) => [category, now - days * dayMs]));
}
