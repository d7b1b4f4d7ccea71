import { expect, test } from "vitest";

import type { GroupStatus } from "../../../../src/operations/groups/status-view.ts";
import { describeGroupStatus } from "../../../../src/operations/groups/status-words.ts";

const quiet: GroupStatus = {
  group: "family",
  assistant: "crab",
  models: ["claude/small"],
  waiting: 0,
  active: false,
  today: { tokens: 1_000, usd: 1.6 },
  usdPerDay: { group: null, total: null },
  asked: [],
};

test.each([
  [{ group: 2, total: 5 }, "Cost today (UTC): $1.60 of $2.00. All groups together may spend $5.00 a day."],
  [{ group: null, total: 5 }, "Cost today (UTC): $1.60. All groups together may spend $5.00 a day."],
  [{ group: null, total: null }, "Cost today (UTC): $1.60."],
])("/status says what the group has cost today and may cost: %j", (usdPerDay, said) => {
  const text = describeGroupStatus({ ...quiet, usdPerDay }, false);

  expect(text.split("\n")).toContain(said);
});

test("/status says which codes wait for people, where there are any", () => {
  expect(describeGroupStatus({ ...quiet, asked: ["K7M3QX", "AAAAAA"] }, false)).toContain(
    "Waiting for people to answer K7M3QX, AAAAAA.",
  );
  expect(describeGroupStatus(quiet, false)).not.toContain("Waits");
});
