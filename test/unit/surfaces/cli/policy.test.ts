import { array, assert, asyncProperty, constantFrom, option, record, subarray } from "fast-check";
import { expect, test } from "vitest";

import { builtInAdapters } from "../../../../src/config/adapters.ts";
import { resolveGroup } from "../../../../src/config/resolve-group.ts";
import { configSchema } from "../../../../src/config/schema/config.ts";
import { explainCall } from "../../../../src/surfaces/cli/commands/policy/explain.ts";
import { origins, sortOrigins } from "../../../../src/domain/people/origin.ts";
import { actions, risks } from "../../../../src/domain/rights/policy.ts";
import { roles } from "../../../../src/domain/people/role.ts";
import { ConversationTools } from "../../../../src/tools/conversation-tools.ts";
import { ToolRegistry } from "../../../../src/tools/registry.ts";
import { crabpot, jsonLines, newHome } from "../../../support/crabpot.ts";
import { openTestStore } from "../../../support/open-test-store.ts";
import { someGroup } from "../../../support/some-group.ts";

const config = JSON.stringify({
  policy: {
    rules: [{ tool: "shell", origin: "web", action: "deny" }],
    preset: "standard",
  },
  groups: {
    family: {
      channel: "terminal",
      chat: "family",
      mounts: [{ source: "/srv/site", target: "site", access: "rw" }],
      policy: { rules: [{ tool: ["write_file", "edit_file"], role: ">=admin", action: "allow" }] },
    },
    plain: { channel: "terminal", chat: "plain" },
  },
});

test("policy explain answers with action, risk and rule, and tells which rules do not fit and why; it needs no host", async () => {
  await using place = await newHome({ "config.yaml": config });
  const site = JSON.stringify({ path: "/workspace/extra/site/index.html", content: "" });
  const explain = async (...words: string[]) =>
    jsonLines((await crabpot(place, "policy", "explain", ...words, "--json")).stdout)[0];

  expect(await explain("family", "write_file", site)).toEqual({
    action: "ask",
    risk: "high",
    rule: "preset standard: high",
  });
  expect(await explain("family", "write_file", site, "--role", "admin")).toEqual({
    action: "allow",
    risk: "high",
    rule: "rules[0] of group family",
  });
  expect(await explain("plain", "shell", '{"command":"ls"}', "--origin", "file", "--origin", "web")).toMatchObject({
    action: "deny",
    rule: "rules[0]",
  });
  expect(await explain("plain", "dance")).toEqual({ action: "deny", risk: "high", rule: "unknown tool" });
  const told = await crabpot(place, "policy", "explain", "family", "write_file", site);
  expect(told.stdout).toContain("rules[0] of group family: is for role >=admin, this is asked by member");
  expect(told.stdout).toContain("rules[0]: is for shell");
  expect(told.stdout).toContain("ask (a person), risk high, by preset standard: high");
});

test("policy explain says which word or construct a command has its risk from", async () => {
  await using place = await newHome({ "config.yaml": config });
  const command = JSON.stringify({ command: 'ls; rm "$f"' });

  const atStake = await crabpot(place, "policy", "explain", "family", "shell", command);
  const plain = await crabpot(place, "policy", "explain", "plain", "shell", command, "--json");
  const low = await crabpot(place, "policy", "explain", "plain", "shell", '{"command":"ls"}', "--json");

  expect(atStake.stdout).toContain(
    'risk high: `"$f"` shows only when it runs, and the group has a mount with access rw\n',
  );
  expect(jsonLines(plain.stdout)[0]).toMatchObject({ risk: "medium", why: '`"$f"` shows only when it runs' });
  expect(jsonLines(low.stdout)[0]).not.toHaveProperty("why");
});

test("what policy explain cannot answer it says: an unknown group, input that is no JSON, an origin that there is not", async () => {
  await using place = await newHome({ "config.yaml": config });

  const group = await crabpot(place, "policy", "explain", "famly", "shell");
  const input = await crabpot(place, "policy", "explain", "family", "shell", "git push");
  const origin = await crabpot(place, "policy", "explain", "family", "shell", "--origin", "internet");

  expect(group.stderr).toContain('There is no group "famly"; did you mean family?');
  expect(input.stderr).toContain('The input "git push" is not a JSON object.');
  expect(origin).toMatchObject({ code: 2, stderr: expect.stringContaining("owner, admin, member") as string });
});

test("policy show lists the rules for a group in the order in which they count", async () => {
  await using place = await newHome({ "config.yaml": config });

  const shown = await crabpot(place, "policy", "show", "family");
  const rules = jsonLines((await crabpot(place, "policy", "show", "family", "--json")).stdout);

  expect(shown.stdout.split("\n").slice(1, 5)).toEqual([
    "rules[0] of group family\twrite_file, edit_file\trole >=admin\tallow",
    "rules[0]\tshell\tturns that have read web\tdeny",
    "preset standard: high\t*\trisk high and above\task",
    "preset standard: everything else\t*\t\tallow",
  ]);
  expect(rules.map(({ name }) => name)).toEqual([
    "rules[0] of group family",
    "rules[0]",
    "preset standard: high",
    "preset standard: everything else",
  ]);
});

const names = ["shell", "read_file", "write_file", "send_message", "dance"];
const someRule = record(
  {
    tool: constantFrom("*", "shell", "read_file", ["shell", "write_file"], ["send_message"]),
    risk: constantFrom(...risks),
    role: constantFrom("<admin", ">=admin", "member", "<=guest"),
    origin: constantFrom(...origins, ["web", "file"]),
    match: constantFrom("*", "git *", "*secret*"),
    action: constantFrom(...actions),
  },
  { requiredKeys: ["action"] },
);
const somePolicy = record(
  {
    rules: array(someRule, { maxLength: 4 }),
    tools: constantFrom({}, { shell: "deny" }, { read_file: "ask", write_file: "allow" }),
    preset: constantFrom("safe", "standard", "open"),
  },
  { requiredKeys: [] },
);
const someInput = constantFrom(
  {},
  { command: "git push" },
  { path: "notes.md", content: "" },
  { path: "/workspace/extra/a/.env" },
  { path: "/workspace/group/secret.txt", content: "x" },
  { text: "hello" },
);
const someTurn = record({ role: constantFrom(...roles), read: subarray([...origins]) });

test("explain says what the host does, whatever the policy, the call and the turn", async () => {
  await using opened = await openTestStore();
  const { sessions } = opened.store;
  const { id: session } = await sessions.open("agent:terminal:chat", "family");
  const registry = new ToolRegistry(builtInAdapters.tools);
  // All tools are offered: what is denied is denied by the policy.
  await sessions.offerTools(
    session,
    1,
    registry.tools.map(({ name }) => ({ name, description: "", inputSchema: {}, origins: [] })),
  );
  const can = { callTools: true, seeImages: true };
  const schema = configSchema(builtInAdapters);
  const asked = { shared: somePolicy, own: option(somePolicy, { nil: undefined }), tool: constantFrom(...names) };
  const seen = new Set<string>();

  await assert(
    asyncProperty(
      record({ ...asked, input: someInput, turn: someTurn }),
      async ({ shared, own, tool, input, turn }) => {
        const family = { channel: "terminal", chat: "family", ...(own && { policy: own }) };
        const parsed = schema.parse({ policy: shared, groups: { family } });
        const settings = resolveGroup(parsed, { name: "family" });
        const { policy } = settings;
        const group = someGroup("family");
        const audience = { policy, channelCan: () => true, modelCallsTools: true, modelSees: true };
        const text = JSON.stringify(input);
        const provenance = async () => ({ role: turn.role, origins: sortOrigins([turn.role, ...turn.read]) });
        const host = new ConversationTools({ registryOf: async () => registry, sessions, channelCan: () => true });
        const tools = await host.of(group, { session, conversation: 1 }, { can, settings, provenance });

        const told = await explainCall(
          { group, audience, registry, network: settings.network },
          { tool, input: text },
          { role: turn.role, origin: turn.read },
        );
        const done = await tools.judge({ id: "1", name: tool, input });

        seen.add(done.action);
        const { action, risk, rule } = told.verdict;
        expect({ action, risk, rule }).toEqual({ action: done.action, risk: done.risk, rule: done.rule });
      },
    ),
    { numRuns: 500 },
  );
  expect(seen).toEqual(new Set(actions));
});
