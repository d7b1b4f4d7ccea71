import { LRUCache } from "lru-cache";

const fields = {
  hourCycle: "h23",
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
} as const;

/** Every offset from UTC that is in use changes at such a moment only. */
const stepMs = 15 * 60_000;

const kept = 256;
const clocks = new LRUCache<string, ZoneClock>({ max: kept });

/**
 * The clock of this zone, made once: that takes longer than what is done with it. Throws a RangeError for a zone that
 * there is not.
 */
export function zoneClock(zone: string): ZoneClock {
  const known = clocks.get(zone) ?? new ZoneClock(zone);
  clocks.set(zone, known);
  return known;
}

/** The same; the clock of UTC for a zone that there is not. */
export function localClock(zone: string): ZoneClock {
  try {
    return zoneClock(zone);
  } catch {
    return zoneClock("UTC");
  }
}

/** A time zone's clock, to the second and with offset; fast for times asked in order. */
export class ZoneClock {
  /** An IANA name. */
  readonly zone: string;
  readonly #format: Intl.DateTimeFormat;
  #step = Number.NaN;
  #offsetMs = 0;

  /** Throws a RangeError for a zone that there is not. */
  constructor(zone: string) {
    this.#format = new Intl.DateTimeFormat("en", { ...fields, calendar: "gregory", timeZone: zone });
    this.zone = this.#format.resolvedOptions().timeZone;
  }

  /** `2026-01-15 13:30:05 +01:00` */
  at(time: number): string {
    const offset = this.#offsetAt(time);
    const minutes = Math.abs(offset) / 60_000;
    const hours = String(Math.floor(minutes / 60)).padStart(2, "0");
    const rest = String(Math.floor(minutes % 60)).padStart(2, "0");
    return `${new Date(time + offset).toISOString().slice(0, 19).replace("T", " ")} ${offset < 0 ? "-" : "+"}${hours}:${rest}`;
  }

  /** `2026-01-15 13:30` */
  minuteAt(time: number): string {
    return this.at(time).slice(0, 16);
  }

  /** `2026-01-15` */
  dayAt(time: number): string {
    return new Date(time + this.#offsetAt(time)).toISOString().slice(0, 10);
  }

  /**
   * When the clocks show this, which is given as if it were UTC: the first time, and just after it where they skip it.
   */
  whenItShows(shown: number): number {
    const early = shown - this.#offsetAt(shown - 86_400_000);
    if (early + this.#offsetAt(early) === shown) return early;
    const late = shown - this.#offsetAt(shown + 86_400_000);
    return late + this.#offsetAt(late) === shown ? late : early;
  }

  /** Local time at this moment, as if it were UTC. */
  shownAt(time: number): number {
    return time + this.#offsetAt(time);
  }

  /** When the clocks show this: the first time; the moment at which they are set forward where they skip it. */
  firstAfterSkipped(shown: number): number {
    const found = this.whenItShows(shown);
    if (found + this.#offsetAt(found) === shown) return found;
    // They are set at a full minute, within a day.
    let before = shown - this.#offsetAt(shown - 86_400_000) - 86_400_000;
    let after = found + 86_400_000;
    while (after - before > 1_000) {
      const middle = Math.floor((before + after) / 2_000) * 1_000;
      if (middle + this.#offsetAt(middle) < shown) before = middle;
      else after = middle;
    }
    return after;
  }

  #offsetAt(time: number): number {
    const step = Math.floor(time / stepMs);
    if (step !== this.#step) {
      const from = step * stepMs;
      const part = new Map(this.#format.formatToParts(from).map(({ type, value }) => [type, Number(value)]));
      const of = (name: Intl.DateTimeFormatPartTypes): number => part.get(name) ?? 0;
      const shown = Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second"));
      this.#offsetMs = shown - from;
      this.#step = step;
    }
    return this.#offsetMs;
  }
}
