import { assert, asyncProperty, constantFrom, integer } from "fast-check";
import { expect, test } from "vitest";

import { ZoneClock } from "../../../src/lib/time/zone-clock.ts";
import { dueTimes, nextDue, readTiming } from "../../../src/scheduler/timing.ts";

const newYork = "America/New_York";
const cron = (pattern: string) => ({ kind: "cron", cron: pattern }) as const;
const time = (iso: string): number => Date.parse(iso);
const shown = (found: number | undefined): string => (found === undefined ? "never" : new Date(found).toISOString());

test.each([
  // The clocks are set forward from 2:00 to 3:00.
  ["30 2 * * *", newYork, "2026-03-08T05:00:00Z", "2026-03-08T07:00:00.000Z"],
  ["*/15 * * * *", newYork, "2026-03-08T06:46:00Z", "2026-03-08T07:00:00.000Z"],
  // By half an hour only.
  ["15 2 * * *", "Australia/Lord_Howe", "2026-10-03T05:00:00Z", "2026-10-03T15:30:00.000Z"],
  // A whole day was left out.
  ["0 12 * * *", "Pacific/Apia", "2011-12-29T23:00:00Z", "2011-12-30T10:00:00.000Z"],
  // They are set back from 2:00 to 1:00: what was due in the first hour is not due in the second one.
  ["30 1 * * *", newYork, "2026-11-01T04:00:00Z", "2026-11-01T05:30:00.000Z"],
  ["30 1 * * *", newYork, "2026-11-01T05:30:00Z", "2026-11-02T06:30:00.000Z"],
  ["0 0 29 2 *", "UTC", "2026-03-01T00:00:00Z", "2028-02-29T00:00:00.000Z"],
  ["0 9 * * MON-FRI", "Asia/Kathmandu", "2026-01-16T04:00:00Z", "2026-01-19T03:15:00.000Z"],
])("%s in %s is due after %s at %s", async (pattern, zone, after, due) => {
  expect(shown(await nextDue(cron(pattern), zone, time(after)))).toBe(due);
});

test("every due time of a pattern comes later than the one before, on a minute, and is shown by the clocks or right after a gap", async () => {
  const minute = integer({ min: 0, max: 59 });
  const hour = integer({ min: 0, max: 23 });
  const zones = constantFrom(newYork, "Europe/Berlin", "Australia/Lord_Howe", "Asia/Tokyo", "America/St_Johns");
  const begin = integer({ min: time("2024-01-01"), max: time("2030-01-01") });
  await assert(
    asyncProperty(minute, hour, zones, begin, async (min, hr, zone, after) => {
      const dueAfter = await dueTimes(cron(`${min} ${hr} * * *`), zone);
      const clock = new ZoneClock(zone);
      let last = after;
      for (let day = 0; day < 400; day += 1) {
        const due = dueAfter(last) ?? Number.NaN;
        expect(due).toBeGreaterThan(last);
        // Once on each day that the clocks show, also on those that have 23 or 25 hours.
        const days = day === 0 ? 1 : (time(clock.dayAt(due)) - time(clock.dayAt(last))) / 86_400_000;
        expect(days).toBe(1);
        const wanted = `${String(hr).padStart(2, "0")}:${String(min).padStart(2, "0")}:00`;
        const isAfterGap = clock.shownAt(due) - clock.shownAt(due - 1_000) > 1_000;
        expect(isAfterGap || clock.at(due).slice(11, 19) === wanted).toBe(true);
        last = due;
      }
    }),
    { numRuns: 15 },
  );
});

/** Where clocks are changed in odd ways: by half an hour, by two hours, at midnight, in the south, by a whole day, in Ramadan, or never. */
const oddZones = [
  newYork,
  "Europe/Berlin",
  "Europe/London",
  "Europe/Dublin",
  "Asia/Kathmandu",
  "Asia/Beirut",
  "Africa/Cairo",
  "Africa/Casablanca",
  "America/Havana",
  "America/Santiago",
  "America/St_Johns",
  "America/Nuuk",
  "Antarctica/Troll",
  "Australia/Lord_Howe",
  "Pacific/Chatham",
  "Pacific/Apia",
  "Pacific/Kiritimati",
  "UTC",
];

/**
 * The same worked out in the simplest way: minute by minute, what the clocks show by Intl. Due is a minute that is shown for the first time
 * and that the pattern names, or the first one after minutes that were skipped and of which it names one.
 */
function dueByLooking(
  names: (shown: Date) => boolean,
  zone: string,
  { from, to }: { readonly from: number; readonly to: number },
) {
  const minuteMs = 60_000;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    calendar: "gregory",
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  });
  const shownAt = (at: number): number => {
    const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    return Date.UTC(
      part["year"] ?? 0,
      (part["month"] ?? 0) - 1,
      part["day"] ?? 0,
      part["hour"] ?? 0,
      part["minute"] ?? 0,
    );
  };
  const due: number[] = [];
  let latest = shownAt(from - 86_400_000);
  for (let at = from - 86_400_000; at <= to; at += minuteMs) {
    const shown = shownAt(at);
    let isDue = false;
    for (let minute = latest + minuteMs; minute <= shown; minute += minuteMs) isDue ||= names(new Date(minute));
    latest = Math.max(latest, shown);
    if (isDue && at > from) due.push(at);
  }
  return due;
}

test("around each change of the clocks and each leap day, in zones of every kind, due times are those that one finds by looking at each minute", async () => {
  const moments = constantFrom(
    // Changes in the north and in the south, of Lebanon and Egypt, the day that Samoa left out, Ramadan, leap days.
    ...["2026-03-08", "2026-03-29", "2026-10-04", "2026-10-25", "2026-11-01", "2026-04-05", "2026-04-24", "2026-10-30"],
    ...["2011-12-30", "2026-02-15", "2026-03-22", "2024-02-29", "2028-02-28", "2027-02-28", "2026-09-06"],
  );
  const field = integer({ min: 0, max: 59 });
  const hour = integer({ min: 0, max: 23 });
  const every = constantFrom(1, 2, 3, 6, 24);
  await assert(
    asyncProperty(constantFrom(...oddZones), moments, field, hour, every, async (zone, day, minute, first, step) => {
      const from = time(`${day}T00:00:00Z`) - 86_400_000;
      const to = from + 3 * 86_400_000;
      const hours = step === 24 ? String(first) : `*/${step}`;
      const names = (shown: Date): boolean =>
        shown.getUTCMinutes() === minute &&
        (step === 24 ? shown.getUTCHours() === first : shown.getUTCHours() % step === 0);
      const dueAfter = await dueTimes(cron(`${minute} ${hours} * * *`), zone);
      const found: number[] = [];
      for (let due = dueAfter(from); due !== undefined && due <= to; due = dueAfter(due)) found.push(due);

      expect(found.map(shown)).toEqual(dueByLooking(names, zone, { from, to }).map(shown));
    }),
    { numRuns: 60 },
  );
}, 120_000);

test("an interval stays on the grid of its making, however late it is looked at", () =>
  assert(
    asyncProperty(integer({ min: 1, max: 5_000 }), integer({ min: 0, max: 10_000_000_000 }), async (minutes, late) => {
      const timing = { kind: "every", everyMs: minutes * 60_000, since: 1_767_225_600_000 } as const;
      const due = (await nextDue(timing, "UTC", timing.since + late)) ?? Number.NaN;
      expect((due - timing.since) % timing.everyMs).toBe(0);
      expect(due - (timing.since + late)).toBeGreaterThan(0);
      expect(due - (timing.since + late)).toBeLessThanOrEqual(timing.everyMs);
    }),
  ));

test.each([
  ["2026-01-15T09:00:00", "2026-01-15T14:00:00.000Z"],
  ["2026-01-15T09:00:00+02:00", "2026-01-15T07:00:00.000Z"],
  ["2026-01-15T09:00:00Z", "2026-01-15T09:00:00.000Z"],
  ["2026-01-15 09:00", "2026-01-15T14:00:00.000Z"],
  ["2026-03-08T02:30:00", "2026-03-08T07:00:00.000Z"],
  ["2026-11-01T01:30:00", "2026-11-01T05:30:00.000Z"],
])("%s in New York is %s", async (at, moment) => {
  expect(await readTiming({ at }, newYork, time("2026-01-01"))).toEqual({ kind: "at", at: time(moment) });
});

test.each([
  [{ at: "not-a-date" }, '"not-a-date" is no time.'],
  [{ at: "2026-02-30T09:00" }, '"2026-02-30T09:00" is no time.'],
  [{ at: "2025-12-31T09:00Z" }, "is in the past"],
  [{ every: "abc" }, '"abc" is no span of time'],
  [{ every: "0" }, '"0" is no span of time'],
  [{ every: "0m" }, '"0m" is no span of time'],
  [{ every: "30s" }, '"30s" is no span of time'],
  [{ every: "9999d" }, '"9999d" is no span of time'],
  [{ cron: "not a cron" }, "needs five fields"],
  [{ cron: "* * * * * *" }, "needs five fields"],
  [{ cron: "60 * * * *" }, "cannot be read"],
  [{ cron: "0 0 30 2 *" }, "never comes"],
  [{}, "exactly one of at, every and cron; 0 were given"],
  [{ every: "1h", cron: "* * * * *" }, "2 were given"],
])("%j is refused", async (wanted, why) => {
  await expect(readTiming(wanted, "UTC", time("2026-01-01"))).rejects.toMatchObject({
    code: "bad_input",
    message: expect.stringContaining(why) as string,
  });
});
