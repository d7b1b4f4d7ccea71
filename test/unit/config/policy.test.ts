import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { stringify } from "yaml";

import { builtInAdapters } from "../../../src/config/adapters.ts";
import { checkConfig, describeFault } from "../../../src/config/loading/load.ts";
import type { ConfigCheck } from "../../../src/config/loading/load.ts";
import { policyInEffect } from "../../../src/config/policy-in-effect.ts";
import { resolveGroup } from "../../../src/config/resolve-group.ts";
import { policyOf } from "../../../src/config/resolve/policy.ts";
import { configSchema } from "../../../src/config/schema/config.ts";
import { actions, risks } from "../../../src/domain/rights/policy.ts";
import { judgeCall } from "../../../src/rights/policy/judge.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

async function check(policy: object, ofGroup?: object): Promise<ConfigCheck> {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "config.yaml");
  const family = { channel: "terminal", chat: "family", ...(ofGroup && { policy: ofGroup }) };
  await writeFile(file, stringify({ policy, groups: { family } }), { mode: 0o600 });
  return await checkConfig(file, {}, builtInAdapters);
}

async function faultsOf(policy: object, ofGroup?: object): Promise<string[]> {
  const checked = await check(policy, ofGroup);
  return checked.ok ? [] : checked.faults.map(describeFault);
}

/** Names and actions of the rules of the group, in order. */
async function rulesOf(policy: object, ofGroup?: object): Promise<string[]> {
  const checked = await check(policy, ofGroup);
  if (!checked.ok) throw new Error(checked.faults.map(describeFault).join("; "));
  return resolveGroup(checked.loaded.config, { name: "family" }).policy.rules.map(
    ({ name, action }) => `${name} → ${action}`,
  );
}

/** Decisions on calls by risk. */
async function byRisk(policy: object): Promise<string> {
  const checked = await check(policy);
  if (!checked.ok) return "invalid";
  const asking = { tool: "shell", input: {}, role: "member", origins: ["member"] } as const;
  const rules = resolveGroup(checked.loaded.config, { name: "family" }).policy;
  return risks.map((risk) => judgeCall({ ...asking, risk }, rules).verdict.action).join(" ");
}

test("rules of the group come before those for everybody, names after all rules, then what is for all others", async () => {
  const shared = {
    rules: [{ tool: "shell", risk: "high", action: "ask" }],
    tools: { read_file: "allow", shell: "deny" },
    preset: "safe",
  };
  const own = { rules: [{ tool: ["shell", "edit_file"], origin: "web", action: "deny" }], tools: { shell: "allow" } };

  expect(await rulesOf(shared, own)).toEqual([
    "rules[0] of group family → deny",
    "rules[0] → ask",
    "tools.shell of group family → allow",
    "tools.read_file → allow",
    "tools.shell → deny",
    "preset safe: high → deny",
    "preset safe: medium → ask",
    "preset safe: everything else → allow",
  ]);
});

test("a group's own default or preset takes the place of the one for everybody", async () => {
  expect(await rulesOf({ default: "deny" }, { preset: "open" })).toEqual([
    "preset open of group family: everything else → allow",
  ]);
  expect(await rulesOf({ preset: "safe" }, { default: "deny" })).toEqual(["default of group family → deny"]);
  expect(await rulesOf({ default: "deny" }, { tools: {} })).toEqual(["default → deny"]);
});

test("presets go by risk; without any, every tool is allowed, as before there were presets", async () => {
  expect(await byRisk({})).toBe("allow allow allow");
  expect(await byRisk({ preset: "open" })).toBe("allow allow allow");
  expect(await byRisk({ preset: "standard" })).toBe("allow allow ask");
  expect(await byRisk({ preset: "safe" })).toBe("allow ask deny");
});

test("a rule that names a tool which does not exist is refused, with the one that was probably meant", async () => {
  const rules = [
    { tool: "bash", action: "deny" },
    { tool: ["shell", "Read", "wrte_file"], action: "deny" },
    { tool: "*", action: "allow" },
  ];

  expect(await faultsOf({ rules }, { rules: [{ tool: "dnce", action: "deny" }] })).toEqual([
    "policy.rules[0].tool: unknown tool bash; did you mean shell?",
    "policy.rules[1].tool[1]: unknown tool Read; did you mean read_file?",
    "policy.rules[1].tool[2]: unknown tool wrte_file; did you mean write_file?",
    expect.stringMatching(/^groups\.family\.policy\.rules\[0\]\.tool: unknown tool dnce; there are: /),
  ]);
});

test("a rule that cannot mean what it says is refused", async () => {
  expect(await faultsOf({ rules: [{ action: "deny", quorum: 2, approvers: "owner" }] })).toEqual([
    "policy.rules[0].quorum: is only for a rule with action: ask; this one has action: deny",
    "policy.rules[0].approvers: is only for a rule with action: ask; this one has action: deny",
  ]);
  expect(await faultsOf({ preset: "safe", default: "allow" })).toEqual([
    "policy.preset: with default: allow beside it, preset: safe would decide nothing; keep one of them",
  ]);
  expect(await faultsOf({ rules: [{ role: "boss", action: "deny" }] })).toEqual([
    expect.stringMatching(/^policy\.rules\[0\]\.role: .*admin/),
  ]);
  expect(await faultsOf({ rules: [{ origin: "internet", action: "deny" }] })).toHaveLength(1);
  expect(await faultsOf({ rules: [{ tool: "shell" }] })).toHaveLength(1);
});

const action = fc.constantFrom(...actions);
const tool = fc.constantFrom("shell", "write_file", "send_message");
const fallback = fc.oneof(
  fc.constant({}),
  fc.record({ default: action }),
  fc.record({ preset: fc.constantFrom("safe" as const, "standard" as const, "open" as const) }),
);
const someSettings = fc
  .tuple(
    fallback,
    fc.array(fc.record({ tool, risk: fc.constantFrom(...risks), action }), { maxLength: 3 }),
    fc.dictionary(tool, action, { maxKeys: 3 }),
  )
  .map(([rest, rules, tools]) => ({ ...rest, rules, tools }));

test("the policy in effect of a group decides by itself what its own and the one for everybody decide together", () => {
  fc.assert(
    fc.property(someSettings, someSettings, tool, fc.constantFrom(...risks), (shared, own, name, risk) => {
      const call = { tool: name, input: {}, risk, role: "member", origins: [] } as const;
      const groups = configSchema(builtInAdapters).parse({
        groups: { family: { channel: "terminal", chat: "1", policy: own } },
      }).groups;
      const together = judgeCall(call, policyOf({ policy: shared, groups, agents: {} }, "family"));
      const alone = judgeCall(
        call,
        policyOf({ policy: policyInEffect({ policy: shared }, own), groups: {}, agents: {} }, "family"),
      );

      expect(alone.verdict.action).toBe(together.verdict.action);
    }),
  );
});

test("the policy in effect says the preset that holds where nothing else is said", () => {
  const policy = { rules: [], tools: { shell: "deny" as const } };

  expect(policyInEffect({ policy })).toEqual({ preset: "open", rules: [], tools: { shell: "deny" } });
  expect(policyInEffect({ policy }, { default: "ask", rules: [], tools: {} })).toEqual({
    default: "ask",
    rules: [],
    tools: { shell: "deny" },
  });
});

const mount = (access: "ro" | "rw", shared: boolean) => [{ source: "/srv/site", target: "site", access, shared }];

test("a group with a shared folder may read what all others have written that share one they may write to", async () => {
  const place = { channel: "terminal" };
  const groups = {
    reader: { ...place, chat: "1", mounts: mount("ro", true) },
    writer: { ...place, chat: "2", mounts: mount("rw", true) },
    alone: { ...place, chat: "3", mounts: mount("rw", false) },
  };
  const parsed = configSchema(builtInAdapters).parse({ groups });

  expect(resolveGroup(parsed, { name: "reader" }).writersOfShared).toEqual(["writer"]);
  expect(resolveGroup(parsed, { name: "writer" }).writersOfShared).toEqual([]);
  expect(resolveGroup(parsed, { name: "alone" }).writersOfShared).toEqual([]);
});
