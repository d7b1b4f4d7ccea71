import { join } from "node:path";

import { expect, test } from "vitest";

import { MemoryFile } from "../../src/abilities/memory/file/memory-file.ts";
import { jsonLines } from "../support/crabpot.ts";
import { groupOf, startWithoutContainers } from "../support/model-host.ts";
import type { ModelServerRequest } from "../support/model-servers/model-server.ts";
import { editSettings } from "../../src/operations/settings/operations.ts";

const calls: Readonly<Record<string, { readonly name: string; readonly input: object }>> = {
  note: { name: "memory_store", input: { text: "The gate code word is heron", category: "global" } },
  own: { name: "memory_store", input: { text: "The gate of the office squeaks", category: "core" } },
  search: { name: "memory_search", input: { query: "gate" } },
};

test("a main group's global notes reach those who may read them, marked, and nothing else of it does", async () => {
  const shown: { readonly group: string; readonly text: string }[] = [];
  const results: string[] = [];
  const script = (request: ModelServerRequest) => {
    const last = request.messages.at(-1);
    if (last?.role === "tool") results.push(last.text);
    if (last?.role === "user") shown.push({ group: groupOf(request), text: last.text });
    const wanted = last?.role === "user" ? /please (\w+)/.exec(last.text)?.[1] : undefined;
    const call = wanted === undefined ? undefined : calls[wanted];
    return call ? { toolCalls: [call] } : { text: "ok" };
  };
  const members = { default: "member", "http:ann": "admin" };
  await using running = await startWithoutContainers(script, {
    groups: {
      office: { main: true, trigger: "always", members },
      annex: { trigger: "always", members },
      cellar: { trigger: "always", members },
    },
    config: { memory: { enabled: true, embeddings: "none", extract: { everyMessages: 0 } } },
  });
  const { host } = running;
  const said = async (group: string, text: string, options = {}): Promise<string> => {
    await host.ask(group, text, options);
    return shown.findLast((one) => one.group === group && one.text.includes(text))?.text ?? "nothing";
  };

  await said("office", "please note", { sender: { id: "bob", name: "Bob" } });
  await said("annex", "please note");
  await said("office", "please note this");
  await said("office", "please own");
  expect(results).toEqual([
    expect.stringContaining("only an admin can have one kept"),
    expect.stringContaining("Only a main group keeps global notes"),
    expect.stringMatching(/^Kept as note-/),
    expect.stringMatching(/^Kept as note-/),
  ]);
  const names = running.model.requests.map((request) => [groupOf(request), JSON.stringify(request)] as const);
  expect(new Set(names.filter(([, text]) => text.includes("Category global")).map(([group]) => group))).toEqual(
    new Set(["office"]),
  );

  // Main groups only, by default.
  expect(await said("annex", "what is it about the gate?")).not.toContain("heron");
  await said("annex", "please search");
  expect(results.at(-1)).not.toContain("heron");
  await host.control.call(editSettings, { edits: [{ path: ["memory", "global", "read"], value: ["annex"] }] });
  const inAnnex = await said("annex", "what is it about the gate now?");
  await said("annex", "please search again");
  const inCellar = await said("cellar", "what is it about the gate?");

  expect(inAnnex).toMatch(
    /category="global" scope="global"[^>]* origin="[^"]*agent[^"]*"[^>]*>The gate code word is heron/,
  );
  expect(results.at(-1)).toContain('scope="global"');
  expect(inAnnex + results.at(-1)).not.toContain("squeaks");
  expect(inCellar).not.toMatch(/heron|squeaks/);
  expect(await said("office", "and here, what of the gate?")).toContain("heron");

  using own = MemoryFile.open(join(host.home, "memory", "office.sqlite"));
  expect([...own.all()].filter(({ text }) => text.includes("heron") && !text.includes("please"))).toEqual([]);
  const listed = jsonLines((await host.cli("memory", "list", "--group", "global", "--json")).stdout);
  expect(listed).toMatchObject([{ text: "The gate code word is heron", category: "global", origin: "agent" }]);
});
