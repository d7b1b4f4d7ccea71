import pino from "pino";
import { expect, test } from "vitest";

import { createEventNotices } from "../../../../src/delivery/event-notices.ts";
import type { HostEvent } from "../../../../src/domain/events/event.ts";
import type { ModelServer } from "../../../support/model-servers/model-server.ts";
import { codeAndText, day, modelCall, openModelCalls } from "../open-model-calls.ts";

function outputLimits(server: ModelServer): number[] {
  return server.requests.map(({ body }) => (body as { max_tokens: number }).max_tokens);
}

test("a call counts against the day's budget with what it really used", async () => {
  await using opened = await openModelCalls({
    first: () => ({ text: "hi", usage: { input: 900, cached: 400, output: 100 } }),
    capabilities: { "claude/small": { inputUsd: 2, cachedInputUsd: 1, outputUsd: 10 } },
  });

  await opened.models.complete(modelCall());

  expect(await opened.usage.ofDay(day)).toEqual([{ group: "family", tokens: 1_000, usd: 0.0024, calls: 1 }]);
});

test("a refused call costs nothing, one that broke off costs what had come", async () => {
  await using opened = await openModelCalls({
    attempts: 1,
    route: ["gpt/small", "claude/small"],
    second: () => ({ fault: "status", status: 500 }),
    first: () => ({ fault: "cut", answer: { text: "a beginning", usage: { input: 70, output: 1 } } }),
  });

  await codeAndText(opened.models.complete(modelCall()));

  const [row] = await opened.usage.ofDay(day);
  expect(row?.tokens).toBeGreaterThan(70);
  expect(row?.tokens).toBeLessThan(90);
});

test("an aborted call ends with the reason for it, costs what had come, and is not tried again", async () => {
  await using opened = await openModelCalls({
    first: () => ({ fault: "silence", answer: { text: "a beginning", usage: { input: 70, output: 1 } } }),
  });
  const stop = new AbortController();
  const reason = new Error("stopped");

  const promise = opened.models.complete(modelCall({ signal: stop.signal, onTry: () => () => stop.abort(reason) }));

  await expect(promise).rejects.toBe(reason);
  const [row] = await opened.usage.ofDay(day);
  expect(row?.tokens).toBeGreaterThan(70);
  expect(opened.first.requests).toHaveLength(1);
  expect(opened.second.requests).toHaveLength(0);
});

test("a used-up budget stops the call before it is made, and says how much of what and until when", async () => {
  await using opened = await openModelCalls({ first: () => ({ text: "hi", usage: { input: 900, output: 100 } }) });
  const groupBudget = { tokensPerDay: 1_500, usdPerDay: undefined };
  await opened.models.complete(modelCall({ groupBudget }));

  const { code, message } = await codeAndText(opened.models.complete(modelCall({ groupBudget })));

  expect(code).toBe("budget_exhausted");
  expect(message).toContain("of 1,500 tokens (group tokensPerDay), 1,000 tokens are used");
  expect(message).toContain("It resets at 2026-01-16 00:00 UTC.");
  expect(opened.first.requests).toHaveLength(1);
});

test.each([
  [
    "a group's tokens",
    { perGroup: { tokensPerDay: 600 } },
    /of 600 tokens \(group tokensPerDay\).* at least 1,012 tokens/,
  ],
  ["a group's dollars", { perGroup: { usdPerDay: 0.01 } }, /of 0.01 US dollars \(group usdPerDay\).* 0.10 US dollars/],
  [
    "those of all groups",
    { total: { tokensPerDay: 600 } },
    /of all groups together \(total tokensPerDay\) is too small/,
  ],
])("a budget that is too small for the call even when it is unused says so: %s", async (_title, budgets, said) => {
  await using opened = await openModelCalls({ budgets, capabilities: dear, route: ["claude/small"] });

  const { code, message } = await codeAndText(opened.models.complete(modelCall({ inputTokens: 500 })));

  expect(code).toBe("budget_exhausted");
  expect(message).toMatch(said);
  expect(message).toContain("the operator raises the limit");
  expect(message).not.toMatch(/used up|resets/);
});

test("where the rest of the budget is too small for the longest answer, a shorter one is asked for", async () => {
  await using opened = await openModelCalls({ budgets: { total: { tokensPerDay: 2_000 } } });

  await opened.models.complete(modelCall());

  const [longest] = outputLimits(opened.first);
  expect(longest).toBeGreaterThan(1_800);
  expect(longest).toBeLessThan(2_000);
});

test("a budget in money is kept with the models' prices", async () => {
  await using opened = await openModelCalls({
    first: () => ({ text: "hi", usage: { input: 1_000, output: 1_000 } }),
    capabilities: { "claude/small": { inputUsd: 10, outputUsd: 50 } },
    budgets: { perGroup: { usdPerDay: 0.08 } },
  });
  await opened.models.complete(modelCall());

  const { code, message } = await codeAndText(opened.models.complete(modelCall()));

  expect(code).toBe("budget_exhausted");
  expect(message).toContain("of 0.08 US dollars (group usdPerDay), 0.06 US dollars are used");
  expect(outputLimits(opened.first)[0]).toBeLessThan(1_600);
});

test("a model whose price nobody knows is not asked under a budget in money", async () => {
  await using opened = await openModelCalls({ budgets: { perGroup: { usdPerDay: 5 } } });

  const { code, message } = await codeAndText(opened.models.complete(modelCall()));

  expect(code).toBe("model_unavailable");
  expect(message).toContain('set inputUsd and outputUsd under models.capabilities["claude/small"]');
  expect(opened.first.requests).toHaveLength(0);
});

test("the scripted model costs nothing under a budget in money", async () => {
  await using opened = await openModelCalls({
    route: ["offline/scripted"],
    budgets: { perGroup: { usdPerDay: 0.01 } },
  });

  await expect(opened.models.complete(modelCall())).resolves.toMatchObject({ model: "offline/scripted" });
  expect(await opened.usage.sums("model", day)).toMatchObject([{ key: "offline/scripted", usd: 0, unpricedCalls: 0 }]);
});

test("fifty calls at once never use more than the budget", async () => {
  const tokensPerDay = 40_000;
  const used: number[] = [];
  await using opened = await openModelCalls({
    route: ["claude/small"],
    first: ({ body }) => {
      const output = (body as { max_tokens: number }).max_tokens;
      used.push(output);
      return { text: "long", usage: { input: 10, output } };
    },
    budgets: { total: { tokensPerDay } },
  });

  const calls = Array.from({ length: 50 }, (_, index) =>
    opened.models.complete(modelCall({ group: `group${index % 7}` })),
  );
  const results = await Promise.allSettled(calls);

  expect(used.reduce((sum, output) => sum + output + 10, 0)).toBeLessThanOrEqual(tokensPerDay);
  expect(used.length).toBeGreaterThan(5);
  const failures = results.filter((result) => result.status === "rejected");
  expect(failures).toHaveLength(50 - used.length);
  for (const { reason } of failures) expect(reason).toMatchObject({ code: "budget_exhausted" });
});

const dear = { "claude/small": { inputUsd: 100, cachedInputUsd: 100, outputUsd: 100, maxOutputTokens: 10_000 } };
const million = { text: "hi", usage: { input: 40_000, output: 5_000 } };

test("without a budget in total five dollars a day hold for what has a price, and the chat is told how to change it", async () => {
  await using opened = await openModelCalls({ first: () => million, capabilities: dear, route: ["claude/small"] });
  await opened.models.complete(modelCall());

  const { code, message } = await codeAndText(opened.models.complete(modelCall({ group: "work", inputTokens: 9_000 })));

  expect(code).toBe("budget_exhausted");
  expect(message).toBe(
    "The day's budget of all groups together is used up. It is the default of 5 US dollars a day; the operator can set budgets.total.usdPerDay in config.yaml. It resets at 2026-01-16 00:00 UTC.",
  );
  expect(opened.first.requests).toHaveLength(1);
});

test.each([
  ["a model whose price nobody knows", {}, {}],
  ["a host with a budget in tokens", dear, { total: { tokensPerDay: 10_000_000 } }],
  ["a host with a larger budget in dollars", dear, { total: { usdPerDay: 1_000 } }],
])("the default does not hold for %s", async (_title, capabilities, budgets) => {
  await using opened = await openModelCalls({ first: () => million, capabilities, budgets, route: ["claude/small"] });
  for (let times = 0; times < 3; times += 1) await opened.models.complete(modelCall());

  expect(opened.first.requests).toHaveLength(3);
});

test("a group is not told what all groups together have used", async () => {
  await using opened = await openModelCalls({
    first: () => ({ text: "hi", usage: { input: 900, output: 100 } }),
    budgets: { total: { tokensPerDay: 1_500 } },
  });
  await opened.models.complete(modelCall({ group: "work" }));

  const { message } = await codeAndText(opened.models.complete(modelCall()));

  expect(message).toBe(
    "The day's budget of all groups together (total tokensPerDay) is used up. It resets at 2026-01-16 00:00 UTC.",
  );
});

test("when 80 % of a budget is used, the operator is told once a day, with the figures", async () => {
  await using opened = await openModelCalls({
    // $0.85 a call.
    first: () => ({ text: "hi", usage: { input: 500, output: 800 } }),
    capabilities: { "claude/small": { inputUsd: 100, outputUsd: 1_000, maxOutputTokens: 1_000 } },
    budgets: { perGroup: { usdPerDay: 2 }, total: { usdPerDay: 3.1 } },
  });
  const told: string[] = [];
  const say = createEventNotices(pino({ level: "silent" }), ({ text }) => void told.push(text));
  const warned = () => opened.records.filter(({ type }) => type === "budget.warned");
  const ask = async (group: string): Promise<void> => {
    await opened.models.complete(modelCall({ group }));
    for (const event of warned().slice(told.length)) say(event as HostEvent);
  };

  await ask("family");
  const before = warned().length;
  await ask("family");
  await codeAndText(opened.models.complete(modelCall()));
  await ask("work");

  expect(before).toBe(0);
  expect(told).toEqual([
    "85 % of today's budget of group family ($1.70 of $2.00) is used.",
    "82 % of today's budget of all groups together ($2.55 of $3.10) is used.",
  ]);
});
