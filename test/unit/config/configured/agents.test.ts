import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";
import { stringify } from "yaml";

import { builtInAdapters } from "../../../../src/config/adapters.ts";
import { agentNameOf, groupWithAgent } from "../../../../src/config/configured/agents.ts";
import { configuredGroups } from "../../../../src/config/configured/groups.ts";
import { checkConfig, describeFault } from "../../../../src/config/loading/load.ts";
import { resolveGroup } from "../../../../src/config/resolve-group.ts";
import type { Config } from "../../../../src/config/schema/config.ts";
import { workFolder } from "../../../../src/domain/chats/group.ts";
import { isSessionOf, mainSessionKey, mainSessionKeys, sideSessionKey } from "../../../../src/domain/turns/session.ts";
import { isAlwaysDenied, judgeCall } from "../../../../src/rights/policy/judge.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const routes = { main: ["offline/echo"], cheap: ["offline/echo"] };

async function check(agents: object, family: object = {}) {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "config.yaml");
  const groups = { family: { channel: "terminal", chat: "family", ...family } };
  const models = { routes, providers: { offline: { kind: "offline" } } };
  await writeFile(file, stringify({ agents, groups, models }), { mode: 0o600 });
  return await checkConfig(file, {}, builtInAdapters);
}

async function load(agents: object, family: object = {}): Promise<Config> {
  const checked = await check(agents, family);
  if (!checked.ok) throw new Error(checked.faults.map(describeFault).join("; "));
  return checked.loaded.config;
}

async function faultsOf(agents: object, family: object = {}): Promise<string[]> {
  const checked = await check(agents, family);
  return checked.ok ? [] : checked.faults.map(describeFault);
}

function ofFamily(config: Config) {
  const [family] = configuredGroups(config);
  if (!family) throw new Error("there is no group");
  return family;
}

const call = { tool: "shell", input: { command: "ls" }, risk: "low", role: "owner", origins: [] } as const;

test("a group that names no agent has the one that every home has, under the key that its session always had", async () => {
  const config = await load({});
  const family = ofFamily(config);

  expect(mainSessionKey(family)).toBe("main:terminal:family");
  expect(agentNameOf(config, family.agent)).toBe("crab");
  expect(mainSessionKey(ofFamily(await load({}, { agent: "main" })))).toBe("main:terminal:family");
});

test("a group's agent is part of its session's key by its id, which a new name leaves as it is", async () => {
  const before = await load({ scout: {} }, { agent: "scout" });
  const after = await load({ scout: { name: "Pathfinder" } }, { agent: "scout" });

  expect([before, after].map((config) => mainSessionKey(ofFamily(config)))).toEqual([
    "scout:terminal:family",
    "scout:terminal:family",
  ]);
  expect([before, after].map((config) => agentNameOf(config, "scout"))).toEqual(["scout", "Pathfinder"]);
});

test("an agent's route is that of its groups which name none", async () => {
  const agents = { scout: { route: "cheap" } };

  expect(ofFamily(await load(agents, { agent: "scout" })).model).toBe("cheap");
  expect(ofFamily(await load(agents, { agent: "scout", model: "main" })).model).toBe("main");
  expect(ofFamily(await load(agents)).model).toBeUndefined();
});

test("an agent has no tool that is not in its list, whatever the policy allows, and no other agent has its list", async () => {
  const agents = { scout: { tools: ["read_file"] } };
  const config = await load(agents, { agent: "scout", policy: { tools: { shell: "allow" } } });
  const policy = resolveGroup(config, { name: "family" }).policy;

  expect(judgeCall(call, policy).verdict).toMatchObject({ action: "deny", rule: "tools of agent scout" });
  expect(judgeCall({ ...call, tool: "read_file" }, policy).verdict.action).toBe("allow");
  expect(isAlwaysDenied("shell", ["low", "high"], policy)).toBe(true);
  expect(isAlwaysDenied("read_file", ["low", "high"], policy)).toBe(false);
  expect(judgeCall(call, resolveGroup(config, { name: "family", agent: "main" }).policy).verdict.action).toBe("allow");
});

test("a list of tools allows nothing that the policy denies", async () => {
  const agents = { scout: { tools: ["read_file"] } };
  const config = await load(agents, { agent: "scout", policy: { default: "deny" } });
  const { policy } = resolveGroup(config, { name: "family" });

  expect(judgeCall({ ...call, tool: "read_file" }, policy).verdict.action).toBe("deny");
});

test("an agent that is not configured anymore may use no tool in what it still ends", async () => {
  const config = await load({ scout: {} });

  expect(judgeCall(call, resolveGroup(config, { name: "family", agent: "gone" }).policy).verdict).toMatchObject({
    action: "deny",
  });
});

test("what an agent has begun stays its own when the group gets another one: with its route and its session", async () => {
  const config = await load({ scout: { route: "cheap" }, clerk: {} }, { agent: "clerk" });
  const family = ofFamily(config);
  const scout = groupWithAgent(config, family, "scout");

  expect([scout.agent, scout.model]).toEqual(["scout", "cheap"]);
  expect(groupWithAgent(config, scout, "clerk").model).toBeUndefined();
  const session = { key: mainSessionKey(scout), kind: "main", group: "family" } as const;
  expect(isSessionOf(session, family)).toBe(true);
  expect(isSessionOf({ ...session, key: "scout:terminal:other" }, family)).toBe(false);
  expect(isSessionOf({ ...session, key: sideSessionKey(scout, { kind: "task", id: "1" }), kind: "task" }, family)).toBe(
    true,
  );
});

test("what leads nowhere is refused, with what was probably meant", async () => {
  expect(await faultsOf({ scout: { route: "cheep" } })).toEqual([
    'agents.scout.route: there is no route "cheep"; did you mean cheap?',
  ]);
  expect(await faultsOf({ scout: { tools: ["read_fil"] } })).toEqual([
    "agents.scout.tools[0]: unknown tool read_fil; did you mean read_file?",
  ]);
  expect(await faultsOf({ scout: {} }, { agent: "scoot" })).toEqual([
    'groups.family.agent: there is no agent "scoot"; did you mean scout?',
  ]);
  expect(await faultsOf({ scout: { instruction: "x" } })).toEqual([
    expect.stringContaining("did you mean instructions?"),
  ]);
  expect(await faultsOf({ "Sc:out": {} })).toEqual([expect.stringContaining("agents")]);
});

test("two agents cannot go by one name, and the main one is called as the assistant is", async () => {
  expect(await faultsOf({ scout: { name: "Crab" } })).toEqual([
    'agents.scout.name: "Crab" is the name of agent main already',
  ]);
  expect(await faultsOf({ scout: {}, clerk: { name: "SCOUT" } })).toEqual([
    'agents.clerk.name: "SCOUT" is the name of agent scout already',
  ]);
  expect(await faultsOf({ main: { name: "x" } })).toEqual([
    "agents.main.name: is not for this agent: it is called as assistant.name says",
  ]);
});

test("of several agents the first has the group's folder, each other one its own; a route is each agent's", async () => {
  const config = await load({ scout: { name: "Ranger", route: "cheap" } }, { agents: ["main", "scout"] });
  const family = ofFamily(config);
  const [main, scout] = ["main", "scout"].map((id) => groupWithAgent(config, family, id));

  expect(family).toMatchObject({ agents: ["main", "scout"], model: undefined });
  expect(mainSessionKeys(family)).toEqual(["main:terminal:family", "scout:terminal:family"]);
  expect(main).toMatchObject({ acting: { name: "crab" }, model: undefined });
  expect(scout).toMatchObject({ agent: "scout", acting: { name: "Ranger", folder: "family@scout" }, model: "cheap" });
  expect([main, scout].map((group) => group && workFolder(group))).toEqual(["family", "family@scout"]);
  expect(ofFamily(await load({ scout: {} }, { agents: ["scout"] }))).toMatchObject({
    agent: "scout",
    agents: undefined,
  });
});

test("an agent's permissions only take away, before all rules of its groups", async () => {
  const permissions = [{ tool: "shell", risk: "medium", action: "deny" }];
  const config = await load({ scout: { permissions } }, { agents: ["main", "scout"], policy: { default: "allow" } });
  const verdict = (agent: string, risk: "low" | "medium") =>
    judgeCall({ ...call, risk }, resolveGroup(config, { name: "family", agent }).policy).verdict.action;

  expect([verdict("main", "medium"), verdict("scout", "medium"), verdict("scout", "low")]).toEqual([
    "allow",
    "deny",
    "allow",
  ]);
  expect(await faultsOf({ scout: { permissions: [{ tool: "shell", action: "allow" }] } })).toHaveLength(1);
  expect(await faultsOf({ scout: { permissions: [{ tool: "shel", action: "deny" }] } })).toEqual([
    expect.stringContaining("agents.scout.permissions[0].tool"),
  ]);
});

test("agents of a group exist, each once, and stand beside no single one", async () => {
  const [unknown] = await faultsOf({ scout: {} }, { agents: ["main", "scuot"] });
  const [both] = await faultsOf({ scout: {} }, { agent: "scout", agents: ["main", "scout"] });

  expect(unknown).toContain("groups.family.agents[1]");
  expect(unknown).toContain("scout");
  expect(both).toContain("cannot stand beside agents");
  expect(await faultsOf({ scout: {} }, { agents: ["scout", "scout"] })).toHaveLength(1);
  expect(await faultsOf({ scout: {} }, { agents: [] })).toHaveLength(1);
});
