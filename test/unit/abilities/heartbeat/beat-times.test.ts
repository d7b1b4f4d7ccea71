import { assert, constantFrom, integer, property, tuple } from "fast-check";
import { expect, test } from "vitest";

import { nextBeat } from "../../../../src/abilities/heartbeat/beat-times.ts";
import { ZoneClock } from "../../../../src/lib/time/zone-clock.ts";

const at = (text: string): number => Date.parse(text);

/** The next beats after a moment, in local time. */
function beats(settings: Parameters<typeof nextBeat>[0], zone: string, after: string, count: number): string[] {
  const clock = new ZoneClock(zone);
  const shown: string[] = [];
  for (let now = at(after); shown.length < count;) {
    const beat = nextBeat(settings, clock, now);
    shown.push(clock.at(beat.at).slice(5, 16));
    now = beat.at;
  }
  return shown;
}

test("beats are as far apart as the settings say, from the first hour to the last", () => {
  const settings = { everyMinutes: 45, from: "08:00", to: "09:30" };

  expect(beats(settings, "Europe/Berlin", "2026-01-10T12:00:00Z", 4)).toEqual([
    "01-11 08:00",
    "01-11 08:45",
    "01-11 09:30",
    "01-12 08:00",
  ]);
});

test("without hours they are counted from midnight, and begin anew there", () => {
  expect(beats({ everyMinutes: 7 * 60 }, "Asia/Kolkata", "2026-01-10T18:29:59Z", 5)).toEqual([
    "01-11 00:00",
    "01-11 07:00",
    "01-11 14:00",
    "01-11 21:00",
    "01-12 00:00",
  ]);
});

test("hours may go over midnight", () => {
  const night = { everyMinutes: 120, from: "22:00", to: "03:00" };

  expect(beats(night, "UTC", "2026-01-10T21:00:00Z", 4)).toEqual([
    "01-10 22:00",
    "01-11 00:00",
    "01-11 02:00",
    "01-11 22:00",
  ]);
  expect(beats(night, "UTC", "2026-01-11T00:30:00Z", 1)).toEqual(["01-11 02:00"]);
});

test("in the night when the clocks go forward nothing is doubled, and hours that are skipped begin just after", () => {
  const night = { everyMinutes: 30, from: "02:30", to: "04:00" };

  expect(beats(night, "Europe/Berlin", "2026-03-28T12:00:00Z", 4)).toEqual([
    "03-29 03:30",
    "03-29 04:00",
    "03-30 02:30",
    "03-30 03:00",
  ]);
});

test("in the night when the clocks go back the hour that comes twice has beats twice, each its own moment", () => {
  const night = { everyMinutes: 60, from: "01:00", to: "03:00" };

  expect(beats(night, "Europe/Berlin", "2026-10-24T12:00:00Z", 5)).toEqual([
    "10-25 01:00",
    "10-25 02:00",
    "10-25 02:00",
    "10-25 03:00",
    "10-26 01:00",
  ]);
});

test("the next beat is always later, within two days, and within its hours", () => {
  const zones = constantFrom("UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Apia", "Australia/Lord_Howe");
  const time = constantFrom("00:00", "02:30", "08:00", "22:00", "23:59");
  assert(
    property(
      zones,
      tuple(time, time),
      integer({ min: 1, max: 1_440 }),
      integer({ min: 0, max: 2 ** 31 }),
      (zone, [from, to], everyMinutes, seconds) => {
        const now = seconds * 1_000;
        const beat = nextBeat({ everyMinutes, ...(from === to ? {} : { from, to }) }, new ZoneClock(zone), now);
        expect(beat.at).toBeGreaterThan(now);
        expect(beat.at).toBeLessThanOrEqual(beat.until);
        // Apia left a whole day out.
        expect(beat.at - now).toBeLessThanOrEqual(3 * 86_400_000);
      },
    ),
  );
});
