import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { crabpotProcess, jsonLines } from "../support/crabpot.ts";
import { blocksOf, copyTree, type TreeCopy } from "../support/guide.ts";
import { agentsHereVariable } from "../support/host-options.ts";
import { TestHost } from "../support/host.ts";
import { startOpenAiServer } from "../support/model-servers/openai.ts";

const checkout = resolve(import.meta.dirname, "../..");
const blocks = await blocksOf("add-an-ability.md");
let tree: TreeCopy;

beforeAll(async () => {
  tree = await copyTree();
  for (const block of blocks) await tree.apply(block);
});

afterAll(() => tree[Symbol.asyncDispose]());

test("the ability of the guide costs new files and at most three changed ones, and its types fit", async () => {
  const changed = blocks.filter(({ file }) => existsSync(join(checkout, file))).map(({ file }) => file);

  expect(blocks.length).toBeGreaterThan(changed.length);
  expect(changed.length).toBeLessThanOrEqual(3);
  await tree.checkTypes();
});

test("what the ability of the guide counts is seen everywhere, survives a kill, and ends at the limit", async () => {
  await using model = await startOpenAiServer(({ messages }) => {
    const last = messages.at(-1);
    if (last?.role === "tool") return { text: last.text };
    return { toolCalls: [{ name: "tally_add", input: { name: "coffee" } }] };
  });
  const models = {
    routes: { main: ["gpt/test"] },
    providers: { gpt: { kind: "openai", apiKey: "sk-none-needed-here", baseUrl: model.url } },
  };
  await using host = await TestHost.start({
    program: join(tree.path, "test/fixtures/crashing-host.ts"),
    variables: { [agentsHereVariable]: "*" },
    groups: { family: { trigger: "always" } },
    config: { models, tally: { max: 3 } },
  });
  const listed = async () => {
    const options = { home: host.home, program: join(tree.path, "src/main.ts") };
    return jsonLines((await crabpotProcess(options, "tally", "list", "--json")).stdout);
  };

  const [first, second] = [await host.ask("family", "one"), await host.ask("family", "another")];
  const seen = [await listed(), await (await host.get("/v1/tally")).json(), (await host.ask("family", "/tally")).text];
  await host.end("SIGKILL");
  await host.boot();
  const afterwards = await listed();
  const [third, fourth] = [await host.ask("family", "a third"), await host.ask("family", "too many")];

  expect([first.text, second.text]).toEqual(["coffee: 1", "coffee: 2"]);
  const rows = [{ name: "coffee", count: 2 }];
  expect(seen).toEqual([rows, { tally: rows }, "coffee: 2"]);
  expect(afterwards).toEqual(rows);
  expect(third.text).toBe("coffee: 3");
  expect(fourth.text).toContain("coffee was not counted: tally.max is 3.");
  expect(await listed()).toEqual([{ name: "coffee", count: 3 }]);
});
