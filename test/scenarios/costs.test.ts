import { expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import { startModelHost, startWithoutContainers } from "../support/model-host.ts";
import type { ModelScript, ModelServerRequest } from "../support/model-servers/model-server.ts";
import { tailEvents } from "../../src/operations/events/operations.ts";
import { listTurns, showTurn } from "../../src/operations/turns/operations.ts";

const reference = "gpt/test-model";

/** Runs what is said behind `run`, reads what is noted behind `read` again, and says what came out. */
const script: ModelScript = ({ lastText, toolOutputs, messages }) => {
  if (toolOutputs.length > 0) return { text: toolOutputs.join("\n").slice(0, 200) };
  const id =
    /(?:"id": "|read )([0-9a-f]{8}-[0-9a-f]{8})/.exec(messages.map(({ text }) => text).join("\n"))?.[1] ?? "none";
  const [, command] = /run (.+?)</.exec(lastText) ?? [];
  if (command !== undefined) return { toolCalls: [{ name: "shell", input: { command } }] };
  if (lastText.includes("read"))
    return { toolCalls: [{ name: "read_result", input: { id, from: 13_860, chars: 100 } }] };
  return { text: "fine" };
};

test("an old long result is cleared when the cache is cold, stays so after kill -9, and can be read again by who saw it only", async () => {
  const models = { capabilities: { [reference]: { cacheMinutes: 0 } } };
  await using running = await startModelHost(script, {
    models,
    groups: { family: {}, club: {} },
    withoutContainers: ["club"],
  });
  const { host, model } = running;
  await host.ask("family", "@crab run seq 1 3000");
  await host.ask("family", "@crab two");
  await host.ask("family", "@crab three");
  expect(promptOf(model.requests.at(-1))).toContain("\\n2999\\n");

  await host.ask("family", "@crab four");
  const cleared = promptOf(model.requests.at(-1));
  await host.end("SIGKILL");
  await host.changeConfig({
    models: {
      routes: { main: [reference] },
      providers: { gpt: { kind: "openai", apiKey: "sk-another", baseUrl: model.url } },
      capabilities: { [reference]: { cacheMinutes: 60 } },
    },
  });
  await host.boot();
  const { text } = await host.ask("family", "@crab read");
  const id = /read_result \{\\+"id\\+": \\+"([^"\\]+)/.exec(cleared)?.[1];
  const after = promptOf(model.requests.at(-1));
  const { text: elsewhere } = await host.ask("club", `@crab read ${id}`);

  expect(cleared).not.toContain("\\n2999\\n");
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{8}$/);
  expect(after.startsWith(cleared)).toBe(true);
  expect(text).toContain("\n2999\n3000");
  expect(elsewhere).toContain(`There is no result ${id} in this conversation`);
});

test("an operator sees what a turn read from the cache and wrote to it, and is told when little is read for 20 turns", async () => {
  const usage = { input: 6_000, output: 10, cached: 1_500 };
  const prices = { inputUsd: 2, cachedInputUsd: 0.2, outputUsd: 10 };
  const models = { capabilities: { [reference]: prices } };
  await using running = await startWithoutContainers(() => ({ text: "fine", usage }), { models });
  const { host } = running;

  const { turn } = await host.ask("family", "@crab first");
  for (let count = 0; count < 20; count += 1) await host.ask("family", "@crab again");

  const report = await host.control.call(showTurn, { id: String(turn), maxChars: 400 });
  const query = { after: 0, last: 0, type: "cache.missed" };
  const told = await Array.fromAsync(host.control.follow(tailEvents, query));
  const [line] = await host.control.call(listTurns, { group: "family", state: undefined, limit: 1 });
  const [sum] = jsonLines((await host.cli("usage", "--by", "agent", "--json")).stdout);
  const costs = await (await host.get("/v1/costs?by=model&since=1d")).json();
  expect(report).toMatchObject({ usage: { cached: 1_500, uncached: 4_500, written: 0, output: 10 } });
  expect(report.usage.usd).toBeCloseTo((4_500 * 2 + 1_500 * 0.2 + 10 * 10) / 1e6);
  expect(told).toMatchObject([{ group: "family", data: { model: reference, turns: 20, percent: 25 } }]);
  expect(line).toMatchObject({ agent: "main" });
  expect(sum).toMatchObject({ by: "agent", name: "main", calls: 21, cachedInputTokens: 31_500 });
  expect(costs).toMatchObject({ costs: [{ name: reference, calls: 21, outputTokens: 210 }] });
});

/** Tools and messages, in the order in which a vendor caches them. */
function promptOf(request: ModelServerRequest | undefined): string {
  const { tools, messages } = (request?.body ?? { messages: [] }) as { tools?: unknown; messages: unknown[] };
  return [JSON.stringify(tools), ...messages.map((message) => JSON.stringify(message))].join("\n");
}
