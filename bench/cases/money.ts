import type { TestHost } from "../../test/support/host.ts";
import type { BenchContext } from "../harness/bench.ts";
import { startHelper } from "../harness/child.ts";
import type { Client } from "../harness/client.ts";
import { atMost, type Figure, figureOf } from "../harness/figure.ts";
import { startHost } from "../harness/host.ts";

/** A model of OpenAI, priced in `src/models/knowledge/models.json`. */
const model = "gpt-6.1-sol";
/** Messages among members per message for the agent. */
const chatter = 9;
/** Turns that are measured each time. */
const measured = 20;
const words =
  "I would say that we take the bread and the cheese with us, and somebody has to ask about the key of the boat house again";

interface Spent {
  readonly calls: number;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly usd: number;
}

/** Measures the cost of turns in a growing conversation, with a caching vendor at OpenAI's prices. */
export async function money({ quick, say }: BenchContext): Promise<Figure[]> {
  await using vendor = await startHelper("vendor-model");
  const routes = { main: [`local/${model}`] };
  const providers = { local: { kind: "openai", apiKey: "sk-none-needed-here", baseUrl: String(vendor.greeting) } };
  const config = {
    models: { routes, providers },
    limits: { turnsPerHour: 0, loopTurns: 0 },
    budgets: { total: { usdPerDay: 10_000 } },
  };
  await using opened = await startHost({ modelUrl: "", groups: ["family"], config, trigger: "mention" });
  const { host, client } = opened;
  const figures: Figure[] = [];
  let [said, turns] = [0, 0];
  for (const past of quick ? [10, 100, 1_000] : [10, 100, 1_000, 10_000]) {
    for (; said < past; [said, turns] = [said + 1 + chatter, turns + 1]) await converse(client);
    const before = await spentBy(host);
    for (let turn = 0; turn < measured; turn += 1) await converse(client);
    const after = await spentBy(host);
    [said, turns] = [said + measured * (1 + chatter), turns + measured];
    say(`money: ${past} messages, ${after.calls - turns} summaries, ${after.usd.toFixed(2)} US dollars so far`);
    figures.push(
      ...figuresOf(past, before, after),
      figure(`a turn up to there, ${past}`, "cents", [(after.usd * 100) / turns]),
    );
  }
  return figures;
}

async function converse(client: Client): Promise<void> {
  for (let index = 0; index < chatter; index += 1) await client.say("family", words);
  await client.time("family", `@crab ${words}?`);
}

async function spentBy(host: TestHost): Promise<Spent> {
  const answer = await host.get("/v1/costs?by=model&since=1d");
  const { costs } = (await answer.json()) as { costs: readonly Spent[] };
  const add = (of: (cost: Spent) => number): number => costs.reduce((sum, cost) => sum + of(cost), 0);
  return {
    calls: add(({ calls }) => calls),
    inputTokens: add(({ inputTokens }) => inputTokens),
    cachedInputTokens: add(({ cachedInputTokens }) => cachedInputTokens),
    usd: add(({ usd }) => usd),
  };
}

function figuresOf(past: number, before: Spent, after: Spent): Figure[] {
  const input = after.inputTokens - before.inputTokens;
  const cached = (after.cachedInputTokens - before.cachedInputTokens) / input;
  const cents = ((after.usd - before.usd) * 100) / measured;
  const isWarm = past >= 100;
  return [
    figure(`prompt after ${past}`, "tokens", [input / (after.calls - before.calls)]),
    figureOf({
      bench: "money",
      figure: `of it from the cache, ${past}`,
      unit: "%",
      values: [cached * 100],
      ...(isWarm && { target: { text: "≥ 80 %", holds: ({ median }) => median >= 80 } }),
    }),
    figureOf({
      bench: "money",
      figure: `a turn after ${past}`,
      unit: "cents",
      values: [cents],
      target: atMost(3, "cents"),
    }),
  ];
}

function figure(name: string, unit: string, values: readonly number[]): Figure {
  return figureOf({ bench: "money", figure: name, unit, values });
}
