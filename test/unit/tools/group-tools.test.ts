import { expect, test } from "vitest";
import * as z from "zod";

import { ConversationTools } from "../../../src/tools/conversation-tools.ts";
import { definePluginTool } from "../../../src/plugins/define-plugin-tool.ts";
import type { HostTool } from "../../../src/tools/define-tool.ts";
import { GroupTools } from "../../../src/tools/group-tools.ts";
import { ToolRegistry } from "../../../src/tools/registry.ts";
import { openTestStore } from "../../support/open-test-store.ts";
import { resolvedGroup } from "../../support/resolved-group.ts";
import { someGroup } from "../../support/some-group.ts";

const schema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };

function tool(name: string, description: string): HostTool {
  return definePluginTool({
    name,
    description,
    runs: "host",
    risk: "medium",
    timeoutSeconds: 1,
    input: z.looseObject({}),
    inputSchema: schema,
    origin: "mcp",
    run: async () => description,
  });
}

const [family, work] = [someGroup("family"), someGroup("work")];

test("a group has the host's tools and those that sources have for it; no source takes the name of another tool", async () => {
  const shared = new ToolRegistry([tool("shell", "the host's")]);
  const first = [tool("files__read", "first"), tool("shell", "a false one")];
  const second = [tool("files__read", "second"), tool("wiki__find", "")];
  const tools = new GroupTools(shared, [
    { toolsOf: async ({ name }) => (name === "family" ? first : []) },
    { toolsOf: async ({ name }) => (name === "family" ? second : []) },
  ]);

  const ofFamily = await tools.registryOf(family);

  expect(ofFamily.added).toEqual(new Set(["files__read", "wiki__find"]));
  expect(ofFamily.tools.map(({ name, description }) => [name, description])).toEqual([
    ["call_tool", expect.any(String)],
    ["files__read", "first"],
    ["find_tools", expect.any(String)],
    ["shell", "the host's"],
    ["wiki__find", ""],
  ]);
  expect(await tools.registryOf(family)).toBe(ofFamily);
  expect(await tools.registryOf(work)).toBe(shared);
});

test("tools that come while the host runs are there at once, and those that go are gone", async () => {
  let now = [tool("files__read", "")];
  const tools = new GroupTools(new ToolRegistry([]), [{ toolsOf: async () => now }]);

  const before = await tools.registryOf(family);
  now = [tool("files__write", "")];
  const after = await tools.registryOf(family);

  expect([...before.added]).toEqual(["files__read"]);
  expect([...after.added]).toEqual(["files__write"]);
});

test("more tools than can be announced are left out, the host's own never", async () => {
  const many = Array.from({ length: 600 }, (_, index) => tool(`many__${String(index).padStart(3, "0")}`, ""));
  const tools = new GroupTools(new ToolRegistry([tool("shell", "")]), [{ toolsOf: async () => many }]);

  const { tools: there } = await tools.registryOf(family);

  expect(there).toHaveLength(512);
  expect(there.at(-1)?.name).toBe("shell");
});

test("the model is told the schema of another program as it is, and what it reads there marks the turn", async () => {
  await using home = await openTestStore();
  const { sessions } = home.store;
  const { id: session } = await sessions.open("main:terminal:chat", "family");
  const tools = new GroupTools(new ToolRegistry([]), [{ toolsOf: async () => [tool("files__read", "")] }]);
  const conversations = new ConversationTools({
    registryOf: (group) => tools.registryOf(group),
    sessions,
    channelCan: () => true,
  });

  const turn = await conversations.of(
    family,
    { session, conversation: 1 },
    {
      can: { callTools: true, seeImages: false },
      settings: { ...resolvedGroup(), policy: { rules: [{ name: "default", action: "allow" }] } },
      provenance: async () => ({ role: "member", origins: ["member"] }),
    },
  );

  expect(turn.definitions).toMatchObject([{ name: "files__read", description: "", inputSchema: schema }]);
  expect(turn.exposureOf([{ id: "1", name: "files__read", input: {} }])).toMatchObject({ origins: ["mcp"] });
});
