import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";
import { stringify } from "yaml";

import { builtInAdapters } from "../../../src/config/adapters.ts";
import { checkConfig, describeFault } from "../../../src/config/loading/load.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Messages about budgets, faults first, with fixes. */
async function saidOf(config: object): Promise<{ ok: boolean; said: string[]; fixes: (string | undefined)[] }> {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "config.yaml");
  const providers = {
    local: { kind: "openai", apiKey: "none", baseUrl: "http://localhost:1/v1" },
    claude: { kind: "anthropic", apiKey: "sk-none" },
  };
  const routes = {
    main: ["local/llama"],
    paid: ["claude/claude-sonnet-5-5"],
    both: ["local/llama", "claude/claude-sonnet-5-5"],
  };
  const groups = { main: { channel: "terminal", chat: "main", model: "paid" } };
  await writeFile(file, stringify({ models: { providers, routes }, groups, ...config }), { mode: 0o600 });
  const check = await checkConfig(file, {}, builtInAdapters);
  const found = check.ok ? check.loaded.warnings : check.faults;
  return { ok: check.ok, said: found.map(describeFault), fixes: found.map(({ fix }) => fix) };
}

function onRoute(model: string, budget: object): object {
  return { groups: { main: { channel: "terminal", chat: "main", model, budget } } };
}

test("a budget in dollars under which no model is ever asked is refused, with the prices to write", async () => {
  expect(await saidOf(onRoute("main", { usdPerDay: 5 }))).toEqual({
    ok: false,
    said: [
      "groups.main.budget.usdPerDay: the price of local/llama is not known, so it is never asked under a budget in US dollars",
    ],
    fixes: [
      'Write what it costs per million tokens, 0 for nothing, under models: capabilities: { "local/llama": { inputUsd: 0, outputUsd: 0 } }',
    ],
  });
});

test("one under which another model of the route answers is a warning", async () => {
  expect(await saidOf(onRoute("both", { usdPerDay: 5 }))).toMatchObject({
    ok: true,
    said: [expect.stringContaining("the price of local/llama is not known")],
  });
});

test.for([
  ["of the group", onRoute("paid", { tokensPerDay: 1_000 }), "groups.main.budget.tokensPerDay"],
  ["per group", { budgets: { perGroup: { tokensPerDay: 1_000 } } }, "budgets.perGroup.tokensPerDay"],
  ["of all groups", { budgets: { total: { tokensPerDay: 1_000 } } }, "budgets.total.tokensPerDay"],
  ["in dollars", { budgets: { total: { usdPerDay: 0.001 } } }, "budgets.total.usdPerDay"],
] as const)(
  "a budget that is too small for any call is refused, and the figure it names is enough: %s",
  async ([, config, path]) => {
    const { ok, said, fixes } = await saidOf(config);

    expect(ok).toBe(false);
    expect(said).toEqual([expect.stringContaining(`${path}: is too small for any call of claude/claude-sonnet-5-5`)]);
    const [, figure] = /^Set \S+ to ([\d.]+) or more\.$/.exec(fixes[0] ?? "") ?? [];
    const key = path.endsWith("usdPerDay") ? "usdPerDay" : "tokensPerDay";
    expect(await saidOf({ budgets: { total: { [key]: Number(figure) } } })).toEqual({ ok: true, said: [], fixes: [] });
  },
);

test("a budget that is less than one call may need is a warning", async () => {
  expect(await saidOf(onRoute("paid", { tokensPerDay: 10_000 }))).toMatchObject({
    ok: true,
    said: [
      expect.stringMatching(/^groups.main.budget.tokensPerDay: is less than a call of \S+ may need, [\d,]+ tokens/),
    ],
  });
});
