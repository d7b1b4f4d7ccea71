import { expect, test } from "vitest";

import { builtInAdapters } from "../../../src/config/adapters.ts";
import { LiveConfig } from "../../../src/config/changes/live-config.ts";
import { configSchema } from "../../../src/config/schema/config.ts";
import type { Origin } from "../../../src/domain/people/origin.ts";
import { createRoles } from "../../../src/rights/people/roles.ts";
import { ToolRegistry } from "../../../src/tools/registry.ts";
import { createDeniedNow } from "../../../src/tools/denied-now.ts";
import { askIn, question } from "../../support/asked-question.ts";
import { openTestStore } from "../../support/open-test-store.ts";
import { someGroup } from "../../support/some-group.ts";

const web = { tool: "shell", origin: "web", action: "deny" } as const;

/** Which rule denies the call by now that was asked when its turn had read these; its turn has read the web since. */
async function deniedBy(
  policy: object,
  origins: readonly Origin[] | undefined,
  more: { readonly agents?: object; readonly groups?: object; readonly agent?: string } = {},
): Promise<string | undefined> {
  await using home = await openTestStore();
  const { store } = home;
  const exposure = { origins: ["web"] as const, folders: [], writesFolder: false };
  await askIn(store, [question({ askedAt: 1, origins })], { exposure, agent: more.agent });
  const config = configSchema(builtInAdapters).parse({
    policy,
    ...(more.agents && { agents: more.agents, groups: more.groups }),
  });
  const roles = createRoles({ people: () => [], membersOf: () => undefined, isOperatorOnly: () => false });
  const group = someGroup("family", {});
  const live = new LiveConfig(config);
  const look = createDeniedNow({
    store,
    groups: { byName: (name) => (name === "family" ? group : undefined) },
    registryOf: async () => new ToolRegistry(builtInAdapters.tools),
    settingsOf: (of) => live.groupOf(of),
    roleOf: roles.roleOf,
  });
  const kept = await store.approvals.get("AAAAAA");
  return kept && (await look(kept));
}

test("a call is denied by the rule that holds by now, by what its turn had read when people were asked", async () => {
  expect(await deniedBy({ tools: { shell: "ask" } }, ["member"])).toBeUndefined();
  expect(await deniedBy({ tools: { shell: "deny" } }, ["member"])).toBe("tools.shell");
  expect(await deniedBy({ rules: [web], tools: { shell: "ask" } }, ["member", "web"])).toBe("rules[0]");
  expect(await deniedBy({ rules: [web], tools: { shell: "ask" } }, ["member"])).toBeUndefined();
  expect(await deniedBy({ rules: [web], tools: { shell: "ask" } }, undefined)).toBe("rules[0]");
});

test("a question of one of several agents is denied by what that one may not do, and by nothing that holds for another", async () => {
  const agents = { scout: { permissions: [{ tool: "shell", action: "deny" }] } };
  const groups = { family: { channel: "terminal", chat: "chat", agents: ["main", "scout"] } };
  const ask = { tools: { shell: "ask" } };

  expect(await deniedBy(ask, ["member"], { agents, groups, agent: "scout" })).toBe("permissions[0] of agent scout");
  expect(await deniedBy(ask, ["member"], { agents, groups, agent: "main" })).toBeUndefined();
});
