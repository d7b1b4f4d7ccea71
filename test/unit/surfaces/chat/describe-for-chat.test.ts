import { expect, test } from "vitest";

import { describeForChat } from "../../../../src/surfaces/chat/describe-for-chat.ts";
import { someGroup } from "../../../support/some-group.ts";

const quiet = {
  assistantName: "crab",
  models: ["claude/small"],
  waiting: 0,
  active: false,
  container: undefined,
  group: someGroup("family"),
  today: { tokens: 1_000, usd: 1.6 },
  usdPerDay: { group: undefined, total: undefined },
  asked: [],
  rest: undefined,
};

test.each([
  [{ group: 2, total: 5 }, "Cost today (UTC): $1.60 of $2.00. All groups together may spend $5.00 a day."],
  [{ group: undefined, total: 5 }, "Cost today (UTC): $1.60. All groups together may spend $5.00 a day."],
  [{ group: undefined, total: undefined }, "Cost today (UTC): $1.60."],
])("/status says what the group has cost today and may cost: %j", (usdPerDay, said) => {
  const text = describeForChat({ ...quiet, usdPerDay });

  expect(text.split("\n")).toContain(said);
});

test("/status says which codes wait for people, where there are any", () => {
  expect(describeForChat({ ...quiet, asked: ["K7M3QX", "AAAAAA"] })).toContain(
    "Waiting for people to answer K7M3QX, AAAAAA.",
  );
  expect(describeForChat(quiet)).not.toContain("Waits");
});
