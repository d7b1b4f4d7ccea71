import { assert, constantFrom, integer, property } from "fast-check";
import { expect, test } from "vitest";

import { ZoneClock } from "../../../../src/lib/time/zone-clock.ts";

const zones = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Asia/Kathmandu",
  "Australia/Lord_Howe",
  "America/Sao_Paulo",
];

test("a time is told as the clocks of the zone show it, with the offset", () => {
  expect(new ZoneClock("Europe/Berlin").at(Date.parse("2026-07-01T22:30:05.999Z"))).toBe("2026-07-02 00:30:05 +02:00");
  expect(new ZoneClock("America/St_Johns").at(Date.parse("2026-01-01T00:00:00Z"))).toBe("2025-12-31 20:30:00 -03:30");
  expect(new ZoneClock("Asia/Kathmandu").dayAt(Date.parse("2026-01-01T18:15:00Z"))).toBe("2026-01-02");
});

test("what the clocks show and when they show it belong together, also on days that have no such time or have it twice", () => {
  assert(
    property(constantFrom(...zones), integer({ min: Date.UTC(2015, 0), max: Date.UTC(2035, 0) }), (name, at) => {
      const zone = new ZoneClock(name);
      const shown = Date.parse(`${zone.at(at).slice(0, 19).replace(" ", "T")}Z`);
      const found = zone.whenItShows(shown);
      expect(zone.at(found).slice(0, 19)).toBe(zone.at(at).slice(0, 19));
      expect(found).toBeLessThanOrEqual(at);
    }),
  );
  const berlin = new ZoneClock("Europe/Berlin");
  // Two o'clock is skipped in the last night of March, and comes twice in the last of October.
  expect(berlin.at(berlin.whenItShows(Date.UTC(2026, 2, 29, 2, 30)))).toBe("2026-03-29 03:30:00 +02:00");
  expect(berlin.at(berlin.whenItShows(Date.UTC(2026, 9, 25, 2, 30)))).toBe("2026-10-25 02:30:00 +02:00");
});
