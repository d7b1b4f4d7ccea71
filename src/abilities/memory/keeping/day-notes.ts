import { agentNamedBy, type Group, workFolder } from "../../../domain/chats/group.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import type { ZoneClock } from "../../../lib/time/zone-clock.ts";
import type { MemoryAt } from "../thread/memory-client.ts";
import type { Publish } from "../../../domain/events/event.ts";
import { dayNotePrompt, toDayNote } from "./day-note.ts";
import type { ExtractionOptions } from "./extraction.ts";
import { newestOf } from "./newest.ts";
import { type QuietWorkOptions, WhenQuiet } from "./when-quiet.ts";

export interface DayNotesOptions extends QuietWorkOptions, Pick<ExtractionOptions, "ask" | "at"> {
  /** Facts are drawn from what is said; where they are not, days get no notes. */
  readonly isOn: () => boolean;
  readonly zoneOf: (group: Group) => ZoneClock;
  readonly clock: Pick<Clock, "now">;
  readonly publish: Publish<"memory.noted">;
}

/** Minimum members' messages of a day that is worth a model call. */
const leastMessages = 10;
const mostMessages = 200;
/** A host that was away for longer leaves the days before without notes. */
const mostDays = 7;
const dayMs = 86_400_000;

/**
 * Has a model write one note of each day on which enough was said, when the day is over and the group is quiet. Up to
 * when days have their notes moves in the file of the memory together with the note, whose id is its day: there is
 * never more than one.
 */
export class DayNotes implements AsyncDisposable {
  readonly #options: DayNotesOptions;
  readonly #quiet: WhenQuiet;

  constructor(options: DayNotesOptions) {
    this.#options = options;
    this.#quiet = new WhenQuiet({
      ...options,
      work: (group, signal) => this.#look(group, signal),
      failure: "a day could not be noted; it is tried again later",
    });
  }

  /** Something was kept: looks again when the group is quiet, or when the day is over. */
  stirred(group: Group, { noted }: { readonly noted: number }): void {
    if (!this.#options.isOn()) return this.#quiet.cancel(group);
    const { today, now } = this.#dayOf(group);
    this.#quiet.wait(group, noted < today ? 0 : this.#untilTomorrow(group, now));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#quiet[Symbol.asyncDispose]();
  }

  /** One day at a time. Gives how long it is until it has to look again. */
  async #look(group: Group, signal: AbortSignal): Promise<number | undefined> {
    if (!this.#options.isOn()) return undefined;
    const memory = this.#options.memoryOf(workFolder(group));
    const { today, now, zone } = this.#dayOf(group);
    const { noted } = await memory.standing();
    const first = startOf(zone, Math.max(noted, today - mostDays * dayMs));
    for (let day = first; day < today; day = after(zone, day)) {
      const said = newestOf(await memory.saidBetween(day, after(zone, day), mostMessages));
      if (said.filter(({ origin }) => origin !== "agent").length < leastMessages) continue;
      await this.#note(group, { memory, day, zone, said }, signal);
      return 0;
    }
    if (noted < today) await memory.advance([], { progress: { noted: today } });
    return this.#untilTomorrow(group, now);
  }

  async #note(group: Group, { memory, day, zone, said }: NotedDay, signal: AbortSignal): Promise<void> {
    const { ask, at, publish, logger } = this.#options;
    const date = zone.dayAt(day);
    const prompt = dayNotePrompt(date, said, at);
    const made = toDayNote(await ask(group, prompt, signal), date, prompt);
    const isKept = !("refused" in made);
    if (!isKept && made.refused !== undefined)
      logger.warn({ group: group.name, day: date, reason: made.refused }, "the note of a day is discarded");
    const data = { day: date, messages: said.length, isKept, ...agentNamedBy(workFolder(group)) };
    await publish({ type: "memory.noted", group: group.name, actor: "host", data });
    await memory.advance(isKept ? [made] : [], { progress: { noted: after(zone, day) } });
  }

  #dayOf(group: Group): { readonly today: number; readonly now: number; readonly zone: ZoneClock } {
    const zone = this.#options.zoneOf(group);
    const now = this.#options.clock.now();
    return { today: startOf(zone, now), now, zone };
  }

  #untilTomorrow(group: Group, now: number): number {
    const zone = this.#options.zoneOf(group);
    return after(zone, startOf(zone, now)) - now;
  }
}

interface NotedDay {
  readonly memory: MemoryAt;
  /** When it begins. */
  readonly day: number;
  readonly zone: ZoneClock;
  readonly said: Awaited<ReturnType<MemoryAt["saidBetween"]>>;
}

/** When the day of this moment begins. */
function startOf(zone: ZoneClock, time: number): number {
  return zone.firstAfterSkipped(Date.parse(`${zone.dayAt(time)}T00:00:00Z`));
}

/** When the next day begins; no day is shorter than 20 or longer than 28 hours. */
function after(zone: ZoneClock, day: number): number {
  return startOf(zone, day + 1.25 * dayMs);
}
