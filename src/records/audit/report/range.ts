import { AppError } from "../../../lib/app-error.ts";
import type { ZoneClock } from "../../../lib/time/zone-clock.ts";

/** Milliseconds since 1970: `from` is in it, `to` is the first moment that is not. */
export interface ReportRange {
  readonly from: number;
  readonly to: number;
}

const dayMs = 86_400_000;

/**
 * Parses `--from` and `--to`. A date is a whole day of the zone, that of `to` included; a time is in the zone unless it
 * has an offset, that of `to` excluded. Throws `bad_input` for anything else, and for an empty range.
 */
export function parseRange(from: string, to: string, clock: ZoneClock): ReportRange {
  const range = { from: momentOf("--from", from, clock).begins, to: momentOf("--to", to, clock).ends };
  if (range.from < range.to) return range;
  throw new AppError("bad_input", `There is no time between --from ${from} and --to ${to}.`, {
    fix: "give a --to that is later; as a date, its day is included",
  });
}

function momentOf(option: string, text: string, clock: ZoneClock): { begins: number; ends: number } {
  const [, date = "", time, zone] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(Z|[+-]\d\d:\d\d)?)?$/.exec(text) ?? [];
  const shown = Date.parse(`${date}T${time ?? "00:00"}Z`);
  if (date === "" || Number.isNaN(shown) || new Date(shown).toISOString().slice(0, 10) !== date) {
    throw new AppError("bad_input", `${option} ${text} is no date and no time.`, {
      fix: "write 2026-01-31, 2026-01-31T12:00 or 2026-01-31T12:00Z",
    });
  }
  if (time === undefined) return { begins: clock.whenItShows(shown), ends: clock.whenItShows(shown + dayMs) };
  const at = zone === undefined ? clock.whenItShows(shown) : Date.parse(`${date}T${time}${zone}`);
  if (Number.isNaN(at)) throw new AppError("bad_input", `${option} ${text} has an offset that there is not.`);
  return { begins: at, ends: at };
}

/** True when a record of this time is in the range. */
export function isInReportRange({ from, to }: ReportRange, at: number): boolean {
  return at >= from && at < to;
}
