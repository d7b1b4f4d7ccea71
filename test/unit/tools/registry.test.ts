import { builtInAdapters } from "../../../src/config/adapters.ts";
import { expect, test } from "vitest";
import * as z from "zod";

import { ofHost } from "../../../src/domain/rights/sourced.ts";
import { definePluginTool } from "../../../src/plugins/define-plugin-tool.ts";
import type { HostTool } from "../../../src/tools/define-tool.ts";
import { ToolRegistry } from "../../../src/tools/registry.ts";
import type { Audience } from "../../../src/tools/registry.ts";

const everything: Audience = {
  policy: { rules: [{ name: "all", action: "allow" }] },
  channelCan: () => true,
  modelCallsTools: true,
  modelSees: true,
};
const plainChannel: Partial<Audience> = { channelCan: () => false };
const namesFor = (audience: Partial<Audience>): string[] =>
  new ToolRegistry(builtInAdapters.tools).offer({ ...everything, ...audience }).map(({ name }) => name);

function toolNamed(name: string, timeoutSeconds = 1): HostTool {
  const input = z.strictObject({});
  return definePluginTool({
    name,
    description: "",
    input,
    runs: "host",
    risk: "low",
    timeoutSeconds,
    run: async () => "",
  });
}

test("tools are offered sorted by name, wherever they come from", () => {
  const registry = new ToolRegistry([toolNamed("zeta"), toolNamed("alpha")], [toolNamed("middle")]);

  expect(registry.offer(everything).map(({ name }) => name)).toEqual(["alpha", "middle", "zeta"]);
});

test("a tool that is denied whatever it is called with is not offered", () => {
  expect(namesFor({ policy: { rules: [{ name: "reading", tools: ["read_file"], action: "allow" }] } })).toEqual([
    "propose_instructions",
    "read_file",
    "request_packages",
  ]);
});

test("reactions are offered only where the channel has them, and models that cannot call tools get none", () => {
  expect(namesFor({}).filter((name) => !namesFor(plainChannel).includes(name))).toEqual(["react"]);
  expect(namesFor({ modelCallsTools: false })).toEqual([]);
  expect(namesFor({ modelSees: false })).toEqual(namesFor({}).filter((name) => name !== "view_image"));
});

test("a browser is offered only where the group's image has one", () => {
  expect(namesFor({ has: new Set(["browser"]) }).filter((name) => !namesFor({}).includes(name))).toEqual(["browser"]);
});

test("two tools of one name are refused, and so is one that no agent could be told about", () => {
  expect(() => new ToolRegistry([toolNamed("one")], [toolNamed("one")])).toThrow("Two tools have the name one");
  expect(() => new ToolRegistry([toolNamed("with space")])).toThrow('The tool "with space" cannot be used: name');
  expect(() => new ToolRegistry([toolNamed("endless", Infinity)])).toThrow("timeoutSeconds");
});

test("the agent is told who runs a tool, how long it may take, and which fields are paths", () => {
  const registry = new ToolRegistry(builtInAdapters.tools);

  expect(registry.announce(["gone", "send_file", "read_file"])).toEqual([
    { name: "send_file", runs: "host", timeoutSeconds: 120, resolvePaths: ["path"] },
    { name: "read_file", runs: "container", timeoutSeconds: 60, resolvePaths: [] },
  ]);
});

test("a tool gets what it says it needs, and nothing else", async () => {
  let place: object = {};
  const tool = definePluginTool({
    name: "nosy",
    description: "",
    input: z.strictObject({}),
    runs: "host",
    risk: "low",
    timeoutSeconds: 1,
    needs: ["redact"],
    run: async (_input, given) => {
      place = given;
      return "";
    },
  });
  const ports = {
    redact: (text: string) => text,
    send: async () => undefined,
    keepFile: async () => Promise.reject(new Error("not asked for")),
    keepVoice: async () => Promise.reject(new Error("not asked for")),
    keepImage: async () => Promise.reject(new Error("not asked for")),
    sessions: {
      list: async () => [],
      history: async () => ({ entries: [], omitted: 0, origins: [] }),
      send: async () => undefined,
      begin: async () => "",
    },
    otherTools: { find: () => ofHost`` },
    tellProgress: () => undefined,
    giveFile: async () => Promise.reject(new Error("not asked for")),
    lastMessage: async () => undefined,
    changeOutcome: async () => Promise.reject(new Error("not asked for")),
    subAgents: { status: async () => "", message: async () => "", cancel: async () => "" },
  };

  await tool.run({}, { ...ports, group: "family", turn: "t", signal: AbortSignal.abort() });

  expect(Object.keys(place).toSorted()).toEqual(["group", "redact", "signal", "turn"]);
});
