import { expect, test } from "vitest";

import { type OpenStore, restartableStore } from "./store-setup.ts";

const none = { tokensPerDay: undefined, usdPerDay: undefined };
const request = { group: "family", day: "2026-01-15", tokens: 100, usd: 0.1, groupLimits: none, totalLimits: none };

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

    await usage.settle(reservation, { tokens: 30, usd: 0.03 });
    await usage.settle(reservation, { tokens: 1, usd: 1 });
    await usage.settle(12_345, { tokens: 1, usd: 1 });

    expect(await usage.ofDay(request.day)).toEqual([{ group: "family", tokens: 30, usd: 0.03, calls: 1 }]);
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
    for (let call = 0; call < 300; call += 1) {
      const answer = await usage.reserve({ ...request, usd: 0.1 });
      if (answer.granted) await usage.settle(answer.reservation, { tokens: 1, usd: 0.000_000_3 });
    }

    expect(await usage.ofDay(request.day)).toEqual([{ group: "family", tokens: 300, usd: 0.000_09, calls: 300 }]);
  });
}
