import { expect, test } from "vitest";
import * as z from "zod";

import type { ToolPolicy } from "../../../src/domain/rights/policy.ts";
import { ConversationTools } from "../../../src/tools/conversation-tools.ts";
import { definePluginTool } from "../../../src/plugins/define-plugin-tool.ts";
import type { HostTool } from "../../../src/tools/define-tool.ts";
import { describeFound } from "../../../src/tools/finding/find.ts";
import { ToolRegistry } from "../../../src/tools/registry.ts";
import type { SessionStore } from "../../../src/stores/contract/session-store.ts";
import { openTestStore } from "../../support/open-test-store.ts";
import { resolvedGroup } from "../../support/resolved-group.ts";
import { someGroup } from "../../support/some-group.ts";

function tool(name: string, more: { description?: string; channelTrait?: "reactions" } = {}): HostTool {
  const fixed = { runs: "host", risk: "low", timeoutSeconds: 1 } as const;
  return definePluginTool({ ...fixed, name, description: "", input: z.strictObject({}), run: async () => "", ...more });
}

const everything: ToolPolicy = { rules: [{ name: "default", action: "allow" }] };
const model = { callTools: true, seeImages: true };
const provenance = async () => ({ role: "member", origins: ["member"] }) as const;
/** A model that can do everything, in a group where it may. */
const able = { can: model, settings: { ...resolvedGroup(), policy: everything }, provenance };

/** One life of a host with these tools. */
function host(
  sessions: SessionStore,
  tools: readonly HostTool[],
  can: { reactions?: boolean } = {},
): ConversationTools {
  return new ConversationTools({
    registryOf: async () => new ToolRegistry(tools),
    sessions,
    channelCan: () => can.reactions ?? true,
  });
}

const family = someGroup("family");
const call = (name: string) => ({ id: "1", name, input: {} });
const refused = (reason: string) => ({ action: "deny", reason: expect.stringContaining(reason) as string });

test("what a server says of its tools is its words, where they are shown and where they are found", async () => {
  await using opened = await openTestStore();
  const { sessions } = opened.store;
  const { id: session } = await sessions.open("agent:terminal:chat", "family");
  const served = { ...tool("files__read", { description: "Reads notes." }), server: "files" };
  const registry = new ToolRegistry([tool("dice")]).joinedBy([served]);
  const tools = new ConversationTools({ registryOf: async () => registry, sessions, channelCan: () => true });

  const offered = await tools.of(family, { session, conversation: 1 }, able);
  const none = await host(sessions, [tool("dice")]).of(family, { session, conversation: 2 }, able);
  const found = describeFound(
    "reads notes",
    offered.definitions.filter(({ name }) => name === "files__read"),
  );

  expect(offered.definitions.map(({ name }) => name)).toContain("files__read");
  const ofWords = [offered, none].map(({ definitions }) => new Set(definitions.flatMap(({ origins }) => origins)));
  expect(ofWords).toEqual([new Set(["mcp"]), new Set()]);
  expect(found).toMatchObject({ text: expect.stringContaining("Reads notes.") as string, origins: ["mcp"] });
});

test("the bytes of a conversation's tools outlast an upgrade of the host; the next conversation has the new ones", async () => {
  await using opened = await openTestStore();
  const { sessions } = opened.store;
  const { id: session } = await sessions.open("agent:terminal:chat", "family");
  const before = [tool("dice", { description: "Old words." }), tool("gone")];
  const after = [tool("dice", { description: "New words." }), tool("new")];

  const first = await host(sessions, before).of(family, { session, conversation: 1 }, able);
  const upgraded = host(sessions, after);
  const second = await upgraded.of(family, { session, conversation: 1 }, able);
  const next = await upgraded.of(family, { session, conversation: 2 }, able);

  expect(JSON.stringify(second.definitions)).toBe(JSON.stringify(first.definitions));
  expect(second.announced.map(({ name }) => name)).toEqual(["dice"]);
  expect(await second.judge(call("dice"))).toMatchObject({ action: "allow", risk: "low", rule: "default" });
  expect(await second.judge(call("gone"))).toMatchObject(refused('There is no tool "gone" anymore.'));
  expect(await second.judge(call("new"))).toMatchObject(refused("can be used in the next conversation"));
  expect(next.definitions.map(({ name, description }) => [name, description])).toEqual([
    ["dice", "New words."],
    ["new", ""],
  ]);
  expect(await next.judge(call("constructor"))).toMatchObject(
    refused('There is no tool "constructor". Tools: dice, new.'),
  );
});

test("what a group, its channel or its model loses in a conversation is refused, and its bytes stay as they are", async () => {
  await using opened = await openTestStore();
  const { sessions } = opened.store;
  const { id: session } = await sessions.open("agent:terminal:chat", "family");
  const tools = [tool("react", { channelTrait: "reactions" }), tool("dice")];
  const where = { session, conversation: 1 };
  const strict = { rules: [{ name: "tools.dice", tools: ["dice"], action: "deny" } as const, ...everything.rules] };

  const { definitions } = await host(sessions, tools).of(family, where, able);
  const now = await host(sessions, tools, { reactions: false }).of(family, where, {
    ...able,
    settings: { ...able.settings, policy: strict },
  });
  const simple = await host(sessions, tools).of(family, where, { ...able, can: { ...model, callTools: false } });

  expect(now.definitions).toEqual(definitions);
  expect(await now.judge(call("dice"))).toMatchObject(refused('policy does not allow "dice"'));
  expect(await now.judge(call("react"))).toMatchObject(refused("this chat has no reactions"));
  // A request with tools would be refused by the vendor.
  expect(simple.definitions).toEqual([]);
  expect(await simple.judge(call("dice"))).toMatchObject(refused("cannot call tools"));
});

test("a turn of an earlier conversation that is still at work changes nothing for the newer one", async () => {
  await using opened = await openTestStore();
  const { sessions } = opened.store;
  const { id: session } = await sessions.open("agent:terminal:chat", "family");
  const newer = await host(sessions, [tool("new")]).of(family, { session, conversation: 2 }, able);

  await host(sessions, [tool("other")]).of(family, { session, conversation: 1 }, able);
  const again = await host(sessions, [tool("other")]).of(family, { session, conversation: 2 }, able);

  expect(again.definitions).toEqual(newer.definitions);
});
