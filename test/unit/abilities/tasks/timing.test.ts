import { assert, asyncProperty, constantFrom, integer, record, uniqueArray } from "fast-check";
import { expect, test } from "vitest";

import { ZoneClock } from "../../../../src/lib/time/zone-clock.ts";
import { dueTimes, nextDue, readTiming } from "../../../../src/abilities/tasks/timing.ts";

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
    { numRuns: 6 },
  );
});

/**
 * Time zones with unusual changes: by half an hour, by two hours, at midnight, in the south, by a whole day, in
 * Ramadan, or never.
 */
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

const minuteMs = 60_000;
/** No clock is changed at another minute than these. */
const stepMs = 15 * minuteMs;
const dayMs = 86_400_000;

/** Local time at this moment as if it were UTC, by Intl. */
function createDial(zone: string): (at: number) => number {
  const fields = { year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric" } as const;
  const format = new Intl.DateTimeFormat("en-US", { ...fields, timeZone: zone, calendar: "gregory", hourCycle: "h23" });
  return (at) => {
    const part = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const [year = 0, month = 0, ...rest] = ["year", "month", "day", "hour", "minute"].map(
      (name) => part.get(name as "year") ?? 0,
    );
    return Date.UTC(year, month - 1, ...rest);
  };
}

/**
 * Local minutes that appear for the first time at a minute: one, none when clocks go back, many when they go forward.
 */
interface Shown {
  readonly at: number;
  readonly first: number;
  readonly last: number;
}

/** The days around a moment, minute by minute, looked at in the simplest way. */
function watchClocks(dial: (at: number) => number, day: string): Shown[] {
  const from = time(`${day}T00:00:00Z`) - 2 * dayMs;
  const seen: Shown[] = [];
  let latest = dial(from) - minuteMs;
  for (let step = from; step < from + 5 * dayMs; step += stepMs) {
    const onDial = dial(step);
    for (let past = 0; past < stepMs; past += minuteMs) {
      seen.push({ at: step + past, first: latest + minuteMs, last: onDial + past });
      latest = Math.max(latest, onDial + past);
    }
  }
  return seen;
}

/** Minutes at which something is due, found by trying. */
function dueByLooking(
  seen: readonly Shown[],
  wanted: { readonly minute: number; readonly hours: ReadonlySet<number> },
) {
  return seen.flatMap(({ at, first, last }) => {
    for (let dial = first; dial <= last; dial += minuteMs) {
      const date = new Date(dial);
      if (date.getUTCMinutes() === wanted.minute && wanted.hours.has(date.getUTCHours())) return [at];
    }
    return [];
  });
}

/**
 * Changes in the north and in the south, of Lebanon and Egypt and at Troll, the day that Samoa left out, Ramadan, leap
 * days.
 */
const oddDays = [
  "2026-03-08",
  "2026-03-28",
  "2026-03-29",
  "2026-04-05",
  "2026-04-24",
  "2026-09-06",
  "2026-09-27",
  "2026-10-04",
  "2026-10-25",
  "2026-10-29",
  "2026-11-01",
  "2011-12-30",
  "2026-02-15",
  "2026-03-22",
  "2024-02-29",
  "2028-02-28",
  "2027-02-28",
];

test("around each change of the clocks and each leap day, in zones of every kind, due times are those that one finds by looking at each minute", async () => {
  const watched = oddZones.flatMap((zone) => {
    const dial = createDial(zone);
    return oddDays.map((day) => ({ zone, seen: watchClocks(dial, day) }));
  });
  const changed = watched.filter(({ seen }) => seen.some(({ first, last }) => first !== last));
  expect(changed.length).toBeGreaterThan(20);
  const hours = uniqueArray(integer({ min: 0, max: 23 }), { minLength: 1, maxLength: 24 });
  const wanted = record({ minute: integer({ min: 0, max: 59 }), hours });
  for (const { zone, seen } of [...changed, ...watched.filter((_, index) => index % 7 === 0)]) {
    await assert(
      asyncProperty(wanted, async ({ minute, hours: named }) => {
        const [begin, end] = [seen[dayMs / minuteMs]?.at ?? 0, seen.at(-1)?.at ?? 0];
        const dueAfter = await dueTimes(cron(`${minute} ${named.join(",")} * * *`), zone);
        const found: number[] = [];
        for (let due = dueAfter(begin); due !== undefined && due <= end; due = dueAfter(due)) found.push(due);
        const looked = dueByLooking(seen, { minute, hours: new Set(named) });

        expect([zone, ...found.map(shown)]).toEqual([zone, ...looked.filter((at) => at > begin).map(shown)]);
      }),
      { numRuns: 3 },
    );
  }
});

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
