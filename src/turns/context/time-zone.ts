import { LRUCache } from "lru-cache";

const fields = {
  hourCycle: "h23",
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
} as const;

/** More zones than hosts have. */
const clocks = new LRUCache<string, LocalTime>({ max: 32 });

/** Returns the clock of a time zone, which is made once. */
export function localTime(zone: string): LocalTime {
  const known = clocks.get(zone) ?? new LocalTime(zone);
  clocks.set(zone, known);
  return known;
}

/**
 * The clock on the wall of one time zone. To be made once: making it takes longer than everything that is done with it.
 */
export class LocalTime {
  /** An IANA name; UTC when it was made for something that is none. */
  readonly zone: string;
  readonly #format: Intl.DateTimeFormat;

  /** Never throws. */
  constructor(zone: string) {
    this.#format = formatIn(zone) ?? new Intl.DateTimeFormat("en", { ...fields, timeZone: "UTC" });
    this.zone = this.#format.resolvedOptions().timeZone;
  }

  /** `2026-01-15 13:30` */
  at(time: number): string {
    const part = new Map(this.#format.formatToParts(time).map(({ type, value }) => [type, value]));
    return `${part.get("year")}-${part.get("month")}-${part.get("day")} ${part.get("hour")}:${part.get("minute")}`;
  }
}

function formatIn(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat("en", { ...fields, timeZone });
  } catch {
    return undefined;
  }
}
