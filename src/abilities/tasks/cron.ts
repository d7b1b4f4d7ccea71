import { AppError } from "../../lib/app-error.ts";
import type { ZoneClock } from "../../lib/time/zone-clock.ts";

/**
 * When the hands of a clock that never changes show a time that a pattern names, after this one; both given as if they
 * were UTC.
 */
export type NextShown = (after: number) => number | undefined;

const fields = 5;
/** Due times that the clocks show twice are looked past: an hour of them, one a minute, is more than there ever is. */
const looks = 200;

/**
 * Reads a pattern of five fields. The library that does is loaded when the first task needs it. Throws `bad_input` for
 * a pattern that cannot be read.
 */
export async function parseCron(pattern: string): Promise<NextShown> {
  const text = pattern.trim();
  if (text.split(/\s+/).length !== fields)
    throw unreadable(pattern, "it needs five fields: minute hour day month weekday");
  const { Cron } = await import("croner");
  try {
    // Zones are none of its business: see `nextCron`.
    const cron = new Cron(text, { timezone: "UTC", paused: true, mode: "5-part" });
    return (after) => cron.nextRun(new Date(after))?.getTime();
  } catch (error) {
    throw unreadable(pattern, error instanceof Error ? error.message : String(error));
  }
}

function unreadable(pattern: string, why: string): AppError {
  return new AppError("bad_input", `The cron pattern "${pattern}" cannot be read: ${why.replace(/\.$/, "")}.`, {
    fix: 'write five fields, such as "0 9 * * 1-5" for nine o\'clock on weekdays',
  });
}

/**
 * When a pattern is due next by the clocks of a zone. What they show twice, because they were set back, is due the
 * first time only; what they skip, because they were set forward, is due at the first moment after.
 */
export function nextCron(next: NextShown, zone: ZoneClock, after: number): number | undefined {
  let shown: number | undefined = zone.shownAt(after);
  for (let look = 0; look < looks; look += 1) {
    shown = next(shown);
    if (shown === undefined) return undefined;
    const due = zone.firstAfterSkipped(shown);
    if (due > after) return due;
  }
  return undefined;
}
