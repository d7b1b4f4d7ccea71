import { expect, test } from "vitest";

import { builtInAdapters } from "../../../src/config/adapters.ts";
import { configSchema } from "../../../src/config/schema/config.ts";
import type { NewApproval } from "../../../src/domain/approval.ts";
import type { Origin } from "../../../src/domain/origin.ts";
import { createRoles } from "../../../src/people/roles.ts";
import { builtInTools } from "../../../src/tools/catalog.ts";
import { ToolRegistry } from "../../../src/tools/registry.ts";
import { createDeniedBy } from "../../../src/wiring/withdrawals.ts";
import { byMessage, draft, step } from "../../contracts/store-setup.ts";
import { openTestStore } from "../../support/open-test-store.ts";
import { someGroup } from "../../support/some-group.ts";

const web = { tool: "shell", origin: "web", action: "deny" } as const;

/** Which rule denies the call by now that was asked when its turn had read these; its turn has read the web since. */
async function deniedBy(policy: object, origins: readonly Origin[] | undefined): Promise<string | undefined> {
  await using home = await openTestStore();
  const { store } = home;
  const { id: session } = await store.sessions.open("main:terminal:chat", "family");
  const turn = { id: "t", session, group: "family", conversation: 1, ...byMessage, at: 1 };
  await store.turns.begin(turn, step("hello"));
  const approval: NewApproval = {
    code: "AAAAAA",
    call: "1",
    tool: "shell",
    input: '{"command":"ls"}',
    sha256: "x",
    risk: "low",
    rule: "default",
    asker: { id: "terminal:ann", name: "Ann", role: "member" },
    approvers: "admin",
    quorum: 1,
    askedAt: 1,
    expiresAt: 1_000,
    origins,
  };
  const exposure = { origins: ["web"] as const, readsFolder: false, writesFolder: false };
  await store.turns.addStep("t", { ...step("asked"), exposure, asks: [{ approval, card: draft("May I?") }] });
  const config = configSchema(builtInAdapters).parse({ policy });
  const roles = createRoles({ people: () => [], membersOf: () => undefined, isOperatorOnly: () => false });
  const group = someGroup("family", {});
  const look = createDeniedBy(
    { config, store, roles },
    { registry: new ToolRegistry(builtInTools), groups: { byName: (name) => (name === "family" ? group : undefined) } },
  );
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
