import { expect, test } from "vitest";

import { firstDay } from "../../../../src/operations/usage/first-day.ts";
import { parseMoment } from "../../../../src/surfaces/cli/since.ts";
import { utcDay } from "../../../../src/lib/time/utc-day.ts";
import { crabpot, newHome } from "../../../support/crabpot.ts";

const dayMs = 86_400_000;

test("a moment is a span before now, or the date or time that is written", () => {
  expect(parseMoment("2026-01-31")).toBe(Date.UTC(2026, 0, 31));
  expect(parseMoment("2026-01-31T12:00Z")).toBe(Date.UTC(2026, 0, 31, 12));
  for (const [span, ms] of Object.entries({ "10m": 600_000, "2h": 7_200_000, "1d": dayMs, "2w": 14 * dayMs })) {
    const before = Date.now() - ms;
    const moment = parseMoment(span);
    expect(moment).toBeGreaterThanOrEqual(before);
    expect(moment).toBeLessThanOrEqual(Date.now() - ms);
  }
});

test("a first day counts today in: 1d is today, 7d and 1w are today and the six days before", () => {
  const today = utcDay(Date.now());
  const days = ["1d", "7d", "1w", "2026-01-15", "2026-01-15T23:59Z"].map((text) => firstDay(text, Date.now()));

  const weekAgo = utcDay(Date.parse(today) - 6 * dayMs);
  expect(days).toEqual([today, weekAgo, weekAgo, "2026-01-15", "2026-01-15"]);
});

test.each([
  ["logs", ["7", "soon", "", "7x", "-1d", "2026", "15.1.2026", "2026-13-01"]],
  ["usage", ["7", "yesterday", "0d", "10m", "2h", "15 Jan 2026", "1969-12-31"]],
])("crabpot %s refuses what is no time, rather than guess", async (command, texts) => {
  await using place = await newHome();

  for (const text of texts) {
    const said = await crabpot(place, command, `--since=${text}`);
    expect.soft(said, text).toMatchObject({ code: 2, stdout: "" });
    expect.soft(said.stderr, text).toContain("such as");
  }
});
