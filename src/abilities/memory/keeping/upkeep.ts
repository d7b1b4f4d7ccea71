import { type Group, workFolder } from "../../../domain/chats/group.ts";
import { type ZoneClock, zoneClock } from "../../../lib/time/zone-clock.ts";
import { isAtWork } from "../../../stores/is-at-work.ts";
import type { HomeMemories } from "../thread/home-memories.ts";
import { globalNotes } from "../item.ts";
import type { MemoryServiceNeeds } from "../memory-needs.ts";
import { DayNotes } from "./day-notes.ts";
import { Extraction, type ExtractionOptions } from "./extraction.ts";
import { Hygiene } from "./hygiene.ts";
import type { ReaderStanding } from "../../../processes/memory-schemas.ts";

/** `2026-01-15 13:30` */
const minutesChars = 16;

/** Maintains a group's memory while the group is quiet: facts, notes of days, and the removal of old memories. */
export class Upkeep implements AsyncDisposable {
  readonly #memories: HomeMemories;
  readonly #extraction: Extraction;
  readonly #dayNotes: DayNotes;
  readonly #hygiene: Hygiene;

  constructor(needs: MemoryServiceNeeds, memories: HomeMemories) {
    const { store, timeZone, timeZoneOf, publish, clock, logger } = needs;
    this.#memories = memories;
    const { settings, at: memoryOf } = memories;
    const everyMessages = (): number => (settings().enabled ? settings().extract.everyMessages : 0);
    const at = (time: number): string => zoneClock(timeZone()).at(time).slice(0, minutesChars);
    const zoneOf = ({ name }: Group): ZoneClock => zoneClock(timeZoneOf(name));
    const shared = { memoryOf, isIdle: async (group: Group) => !(await isAtWork(store, group)), publish, logger };
    const asking = { ...shared, ask: askingOf(needs, memories), at };
    this.#extraction = new Extraction({ ...asking, everyMessages });
    this.#dayNotes = new DayNotes({ ...asking, isOn: () => everyMessages() > 0, zoneOf, clock });
    // Nothing is removed where nothing is kept.
    const hygiene = () => ({ ...settings().hygiene, ...(!settings().enabled && { everyHours: 0 }) });
    this.#hygiene = new Hygiene({ ...shared, settings: hygiene, clock });
  }

  /** The memory of a group's agent has taken in what was said; this is how far its readers are. */
  kept(group: Group, standing: ReaderStanding): void {
    this.#extraction.stirred(group, standing);
    this.#dayNotes.stirred(group, standing);
    this.#hygiene.stirred(group, standing);
    // When they were cleaned themselves is seen then.
    if (group.main && workFolder(group) === group.name && this.#memories.has(globalNotes))
      this.#hygiene.stirred({ ...group, name: globalNotes }, { cleaned: 0 });
  }

  /** Draws facts at once. Never rejects. */
  extract(group: Group, signal: AbortSignal): Promise<void> {
    return this.#extraction.now(group, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#hygiene[Symbol.asyncDispose]();
    await this.#dayNotes[Symbol.asyncDispose]();
    await this.#extraction[Symbol.asyncDispose]();
  }
}

/** Asks the model that draws from what was said. */
function askingOf({ models }: MemoryServiceNeeds, { settings }: HomeMemories): ExtractionOptions["ask"] {
  return async (group, { system, text }, signal) => {
    const route = settings().extract.route ?? group.model;
    const call = { group: group.name, route, groupBudget: group.budget, system, tools: [], signal };
    return (await models.complete({ ...call, messages: [{ role: "user", text }] })).text;
  };
}
