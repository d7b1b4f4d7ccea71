import { expect, test } from "vitest";

import { utcDay } from "../../../../src/lib/time/utc-day.ts";
import { addFailedTurn, startControlledHost } from "../../../support/crabpot-control.ts";
import { crabpot, jsonLines, newHome } from "../../../support/crabpot.ts";

const none = { tokensPerDay: undefined, usdPerDay: undefined };

test("usage says what models have cost, by group, member, model or day, with a total", async () => {
  await using place = await newHome();
  await using host = await startControlledHost(place.home);
  await addFailedTurn(host.store, "t1");
  const used = async (at: number, model: string, usd: number | undefined): Promise<void> => {
    const limits = { groupLimits: none, totalLimits: none };
    const answer = await host.store.usage.reserve({ group: "main", day: utcDay(at), tokens: 1, usd: 1, ...limits });
    const tokens = { inputTokens: 1_000, cachedInputTokens: 800, writtenInputTokens: 150, outputTokens: 100 };
    const call = { model, turn: "t1", ...tokens, usd };
    if (answer.granted) await host.store.usage.settle(answer.reservation, call);
  };
  await used(Date.now(), "claude/small", 1.5);
  await used(Date.now(), "local/llama", undefined);
  await used(Date.UTC(2026, 0, 15), "claude/small", 0.002);

  const week = await crabpot(place, "usage", "--by", "model");
  const all = await crabpot(place, "usage", "--by", "day", "--since", "2026-01-15", "--json");
  const member = await crabpot(place, "usage", "--by", "member", "--since", "1d", "--json");
  const agent = await crabpot(place, "usage", "--by", "agent", "--since", "1d", "--group", "main", "--json");
  const nowhere = await crabpot(place, "usage", "--group", "nobody");
  const later = await crabpot(place, "usage", "--since", "2100-01-01");
  const wrong = await crabpot(place, "usage", "--since", "yesterday");

  expect(week.stdout).toBe(
    [
      "model\tcalls\ttokens in\tcached\ttokens out\tcost\tcalls of unknown price",
      "claude/small\t1\t1000\t800\t100\t$1.50\t",
      "local/llama\t1\t1000\t800\t100\t$0.00\t1",
      "total\t2\t2000\t1600\t200\t$1.50\t1",
      "",
    ].join("\n"),
  );
  expect(jsonLines(all.stdout)).toMatchObject([
    { by: "day", name: "2026-01-15", calls: 1, usd: 0.002 },
    { by: "day", name: utcDay(Date.now()), calls: 2, usd: 1.5, unpricedCalls: 1 },
  ]);
  expect(jsonLines(member.stdout)).toMatchObject([{ by: "member", id: "terminal:ann", calls: 2 }]);
  expect(jsonLines(agent.stdout)).toMatchObject([
    { by: "agent", name: "main", calls: 2, inputTokens: 2_000, cachedInputTokens: 1_600, writtenInputTokens: 300 },
  ]);
  expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringContaining("nobody") });
  expect(later).toMatchObject({ code: 0, stdout: "No model calls since then.\n" });
  expect(wrong).toMatchObject({ code: 2, stdout: "" });
});
