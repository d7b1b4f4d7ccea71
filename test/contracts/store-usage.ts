import { expect, test } from "vitest";

import type { CallUsage, LearnedWindow } from "../../src/domain/turns/usage.ts";
import { type OpenStore, restartableStore, runningTurn } from "./store-setup.ts";

const none = { tokensPerDay: undefined, usdPerDay: undefined };
const request = { group: "family", day: "2026-01-15", tokens: 100, usd: 0.1, groupLimits: none, totalLimits: none };

const call = (outputTokens: number, usd: number | undefined): CallUsage => ({
  model: "claude/small",
  turn: undefined,
  inputTokens: 0,
  outputTokens,
  usd,
});

/** Day budgets that concurrent calls cannot overrun. */
export function testBudgets(open: OpenStore): void {
  test("a reservation counts in full until it is settled, also after a crash", async () => {
    await using home = await restartableStore(open);
    const groupLimits = { tokensPerDay: 150, usdPerDay: undefined };
    await home.store.usage.reserve({ ...request, groupLimits });

    const store = await home.restart();

    expect(await store.usage.reserve({ ...request, groupLimits })).toEqual({
      granted: false,
      limit: "group tokensPerDay",
      used: 100,
      allowed: 150,
    });
    expect(await store.usage.ofDay(request.day)).toEqual([{ group: "family", tokens: 100, usd: 0.1, calls: 1 }]);
    expect(await store.usage.ofDay("2026-01-16")).toEqual([]);
  });

  test("settling gives back what was not used, once", async () => {
    await using home = await restartableStore(open);
    const { usage } = home.store;
    const answer = await usage.reserve(request);
    const reservation = answer.granted ? answer.reservation : 0;

    const settled = await usage.settle(reservation, call(30, 0.03));
    const again = await usage.settle(reservation, call(1, 1));
    await usage.settle(12_345, call(1, 1));

    expect(await usage.ofDay(request.day)).toEqual([{ group: "family", tokens: 30, usd: 0.03, calls: 1 }]);
    const used = { tokens: 30, usd: 0.03 };
    expect([settled, again]).toEqual([{ day: request.day, group: used, total: used }, undefined]);
  });

  test("what a model counts for an estimate is kept with its call, and replaced by the next", async () => {
    await using home = await restartableStore(open);
    const { usage } = home.store;
    const settle = async (tokenFactor: number | undefined): Promise<void> => {
      const answer = await usage.reserve(request);
      await usage.settle(answer.granted ? answer.reservation : 0, { ...call(1, 0), tokenFactor });
    };
    expect(await usage.tokenFactors()).toEqual(new Map());
    await settle(0.8);
    await settle(0.75);
    await settle(undefined);

    const store = await home.restart();

    expect(await store.usage.tokenFactors()).toEqual(new Map([["claude/small", 0.75]]));
  });

  test("what was learned of windows is kept, replaced by what is learned later, and forgotten with or without factors", async () => {
    await using home = await restartableStore(open);
    const { usage } = home.store;
    await usage.keepWindow(learned("claude/small", 9_000));
    await usage.keepWindow(learned("claude/small", 8_000));
    await usage.keepWindow(learned("gpt/small", 4_000));
    const answer = await usage.reserve(request);
    await usage.settle(answer.granted ? answer.reservation : 0, { ...call(1, 0), tokenFactor: 0.8 });

    const store = await home.restart();
    const kept = await store.usage.learnedWindows();
    await store.usage.forgetLearned(["claude/small"], { factors: false });
    const some = [await store.usage.learnedWindows(), await store.usage.tokenFactors()];
    await store.usage.forgetLearned(["claude/small", "gpt/small"], { factors: true });

    expect(kept).toEqual([learned("claude/small", 8_000), learned("gpt/small", 4_000)]);
    expect(some).toEqual([[learned("gpt/small", 4_000)], new Map([["claude/small", 0.8]])]);
    expect([await store.usage.learnedWindows(), await store.usage.tokenFactors()]).toEqual([[], new Map()]);
  });

  test("each of the four limits is named when it is reached, and a request that just fits is granted", async () => {
    await using home = await restartableStore(open);
    const { usage } = home.store;
    const limited = (group: string, limits: object) => usage.reserve({ ...request, group, ...limits });
    await usage.reserve({ ...request, group: "work" });

    expect(await limited("family", { groupLimits: { tokensPerDay: 99, usdPerDay: 9 } })).toMatchObject({
      limit: "group tokensPerDay",
      used: 0,
    });
    expect(await limited("family", { groupLimits: { tokensPerDay: 999, usdPerDay: 0.09 } })).toMatchObject({
      limit: "group usdPerDay",
      used: 0,
    });
    expect(await limited("family", { totalLimits: { tokensPerDay: 199, usdPerDay: 9 } })).toMatchObject({
      limit: "total tokensPerDay",
      used: 100,
    });
    expect(await limited("family", { totalLimits: { tokensPerDay: 999, usdPerDay: 0.19 } })).toMatchObject({
      limit: "total usdPerDay",
      used: 0.1,
    });
    expect(await limited("family", { totalLimits: { tokensPerDay: 200, usdPerDay: 0.2 } })).toMatchObject({
      granted: true,
    });
  });

  test("fifty calls at once never spend more than the day allows", async () => {
    await using home = await restartableStore(open);
    const totalLimits = { tokensPerDay: 1_050, usdPerDay: undefined };

    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        home.store.usage.reserve({ ...request, group: `g${index % 3}`, totalLimits }),
      ),
    );

    expect(answers.filter((answer) => answer.granted)).toHaveLength(10);
  });

  test("a thousand small prices leave no rounding behind", async () => {
    await using home = await restartableStore(open);
    const { usage } = home.store;
    for (let times = 0; times < 300; times += 1) {
      const answer = await usage.reserve({ ...request, usd: 0.1 });
      if (answer.granted) await usage.settle(answer.reservation, call(1, 0.000_000_3));
    }

    expect(await usage.ofDay(request.day)).toEqual([{ group: "family", tokens: 300, usd: 0.000_09, calls: 300 }]);
  });

  test("calls are added up by group, by who caused them, by model and by day", async () => {
    await using home = await restartableStore(open);
    const { usage, chats } = home.store;
    await runningTurn(home.store);
    await chats.memberSeen("family", { id: "ann", name: "Ann" }, 5);
    const used = async (day: string, group: string, what: Partial<CallUsage>): Promise<void> => {
      const answer = await usage.reserve({ ...request, day, group });
      if (answer.granted) await usage.settle(answer.reservation, { ...call(10, 0.01), inputTokens: 100, ...what });
    };
    await used("2026-01-14", "family", { turn: "t", cachedInputTokens: 60, writtenInputTokens: 30 });
    await used("2026-01-15", "family", { turn: "t", usd: 0.02 });
    await used("2026-01-15", "family", { model: "local/llama", usd: undefined });
    await used("2026-01-15", "work", { model: "offline/scripted", usd: 0 });
    await usage.reserve(request);

    const two = { name: undefined, inputTokens: 200, outputTokens: 20, unpricedCalls: 0 };
    const [byGroup, since] = [await usage.sums("group", ""), await usage.sums("group", "2026-01-15")];
    const [byModel, byDay] = [await usage.sums("model", ""), await usage.sums("day", "2026-01-01")];

    const nothing = { name: undefined, cachedInputTokens: 0, writtenInputTokens: 0, unpricedCalls: 0 };
    expect(byGroup).toEqual([
      {
        key: "family",
        name: undefined,
        calls: 3,
        inputTokens: 300,
        cachedInputTokens: 60,
        writtenInputTokens: 30,
        outputTokens: 30,
        usd: 0.03,
        unpricedCalls: 1,
      },
      { key: "work", ...nothing, calls: 1, inputTokens: 100, outputTokens: 10, usd: 0 },
    ]);
    expect(since).toMatchObject([{ key: "family", calls: 2, usd: 0.02 }, { key: "work" }]);
    expect(byModel).toMatchObject([
      { key: "claude/small", usd: 0.03 },
      { key: "local/llama", usd: 0, unpricedCalls: 1 },
      { key: "offline/scripted", usd: 0, unpricedCalls: 0 },
    ]);
    expect(byDay.map(({ key, calls }) => [key, calls])).toEqual([
      ["2026-01-14", 1],
      ["2026-01-15", 3],
    ]);
    expect(await usage.sums("agent", "")).toMatchObject([
      { key: "agent", calls: 2, cachedInputTokens: 60 },
      { key: "", calls: 2, cachedInputTokens: 0 },
    ]);
    expect(await usage.sums("member", "")).toMatchObject([
      { key: "terminal:ann", ...two, name: "Ann", calls: 2, usd: 0.03 },
      { key: "", ...two, calls: 2, usd: 0, unpricedCalls: 1 },
    ]);
    expect(await usage.sums("member", "2026-01-16")).toEqual([]);
    expect(await usage.sums("day", "", { until: "2026-01-14" })).toMatchObject([{ key: "2026-01-14", calls: 1 }]);
    expect(await usage.sums("model", "2026-01-15", { until: "2026-01-15", group: "work" })).toMatchObject([
      { key: "offline/scripted", calls: 1 },
    ]);
  });

  test("a warning of a day's budget is given once, also after a restart", async () => {
    await using home = await restartableStore(open);
    const warn = (store: typeof home.store) => store.usage.warnsFirst("2026-01-15", "family group usdPerDay");

    const first = [await warn(home.store), await warn(home.store)];
    const store = await home.restart();

    expect(first).toEqual([true, false]);
    expect(await warn(store)).toBe(false);
    expect(await store.usage.warnsFirst("2026-01-16", "family group usdPerDay")).toBe(true);
  });
}

function learned(model: string, windowTokens: number): LearnedWindow {
  return { model, windowTokens, described: "as it was", learnedAt: 5 };
}
