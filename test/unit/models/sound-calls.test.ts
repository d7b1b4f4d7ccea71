import { join } from "node:path";

import { pino } from "pino";
import { expect, test } from "vitest";

import type { NewEvent } from "../../../src/domain/events/event.ts";
import { SoundCalls } from "../../../src/models/sound-calls.ts";
import { soundPriceOf, soundUsd } from "../../../src/models/costs/sound-price.ts";
import { openStoreAt } from "../../support/open-store-at.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const providers = { gpt: { kind: "openai" }, home: { kind: "openai" } };
const noLimits = { tokensPerDay: undefined, usdPerDay: undefined };
const day = "2026-01-15";

async function openRig(
  options: {
    readonly capabilities?: Parameters<typeof soundPriceOf>[0]["capabilities"];
    readonly total?: { readonly usdPerDay?: number };
  } = {},
) {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder());
  const { usage } = stack.use(await openStoreAt(join(folder.path, "crabpot.sqlite")));
  const events: NewEvent[] = [];
  const { capabilities = {}, total = {} } = options;
  const calls = new SoundCalls({
    settings: () => ({ models: { providers, capabilities }, budgets: { perGroup: {}, total, warnAtPercent: 80 } }),
    usage,
    now: () => Date.UTC(2026, 0, 15, 18, 30),
    logger: pino({ level: "silent" }),
    publish: async (event) => void events.push(event),
  });
  const owned = stack.move();
  return {
    usage,
    events,
    reserve: (model: string, chars: number, usdPerDay?: number) =>
      calls.reserve({
        group: "family",
        groupBudget: { ...noLimits, usdPerDay },
        model,
        most: { chars, seconds: chars / 3 },
      }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test("what is said is paid by its characters or its length, and stands under its model", async () => {
  await using rig = await openRig();

  await (await rig.reserve("gpt/tts-1", 1_000)).settle(70);
  await (await rig.reserve("gpt/gpt-4o-mini-tts", 1_000)).settle(60);

  const [spoken] = await rig.usage.ofDay(day);
  expect(spoken).toEqual({ group: "family", tokens: 0, usd: 0.015 + 0.018, calls: 2 });
  const sums = await rig.usage.sums("model", day);
  expect(sums.map(({ key, usd, unpricedCalls }) => [key, usd, unpricedCalls])).toEqual([
    ["gpt/gpt-4o-mini-tts", 0.018, 0],
    ["gpt/tts-1", 0.015, 0],
  ]);
});

test("a sound of unknown length costs what was put aside, and one that was refused nothing", async () => {
  await using rig = await openRig();

  await (await rig.reserve("gpt/gpt-4o-mini-tts", 180)).settle(undefined);
  await (await rig.reserve("gpt/tts-1", 4_000)).giveBack();

  expect(await rig.usage.ofDay(day)).toMatchObject([{ usd: 0.018, calls: 2 }]);
});

test("what is put aside counts until it is settled, and what goes beyond the day's budget is not asked for", async () => {
  await using rig = await openRig();

  const first = await rig.reserve("gpt/tts-1", 4_000, 0.1);
  const second = rig.reserve("gpt/tts-1", 4_000, 0.1);

  await expect(second).rejects.toMatchObject({
    code: "budget_exhausted",
    message: expect.stringContaining("of 0.10 US dollars (group usdPerDay), 0.06 US dollars are used or reserved"),
  });
  await first.giveBack();
  await (await rig.reserve("gpt/tts-1", 6_000, 0.1)).settle(1);
  expect(rig.events).toMatchObject([{ type: "budget.warned", data: { limit: "group usdPerDay" } }]);
});

test("nobody's own limit of all groups holds for sounds, too", async () => {
  await using rig = await openRig();

  await expect(rig.reserve("gpt/tts-1-hd", 200_000)).rejects.toThrow("It is the default of 5 US dollars a day");
});

test("a price that nobody knows is refused only under a limit in dollars, and counted as unknown", async () => {
  await using rig = await openRig({ total: { usdPerDay: 9 } });
  await using free = await openRig();

  await expect(rig.reserve("home/kokoro", 10)).rejects.toMatchObject({
    code: "model_unavailable",
    message: expect.stringContaining('spokenUsd or minuteUsd under models.capabilities["home/kokoro"]'),
  });
  await (await free.reserve("home/kokoro", 10)).settle(1);
  expect(await free.usage.sums("model", day)).toMatchObject([{ key: "home/kokoro", usd: 0, unpricedCalls: 1 }]);
});

test("the configuration's price takes the place of the one that is built in", () => {
  const capabilities = { "gpt/tts-1": { minuteUsd: 0.6 }, "home/kokoro": { spokenUsd: 0 } };
  const amount = { chars: 1_000_000, seconds: 60 };
  const usd = (model: string) =>
    soundUsd(soundPriceOf({ providers, capabilities }, model) ?? { spokenUsd: -1 }, amount);

  expect([usd("gpt/tts-1"), usd("home/kokoro"), usd("gpt/tts-1-hd"), usd("none/tts-1")]).toEqual([0.6, 0, 30, -1]);
});
