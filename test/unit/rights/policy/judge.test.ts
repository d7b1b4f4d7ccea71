import { array, assert, constantFrom, option, property, record, string, subarray } from "fast-check";
import { expect, test } from "vitest";

import { origins } from "../../../../src/domain/people/origin.ts";
import { actions, risks } from "../../../../src/domain/rights/policy.ts";
import type { Rule } from "../../../../src/domain/rights/policy.ts";
import { roles } from "../../../../src/domain/people/role.ts";
import { isAlwaysDenied, judgeCall } from "../../../../src/rights/policy/judge.ts";
import type { JudgedCall } from "../../../../src/rights/policy/judge.ts";
import { judgeCommand } from "../../../../src/rights/policy/shell/judge-command.ts";

const push: JudgedCall = {
  tool: "shell",
  input: { command: "git  push origin main" },
  risk: "medium",
  role: "member",
  origins: ["member", "web"],
};

/** Is the call denied by a policy with this one rule to deny it, before one that allows everything? */
function isDenied(rule: Partial<Rule>, call: Partial<JudgedCall> = {}): boolean {
  const rules = [{ name: "first", action: "deny", ...rule } as const, { name: "rest", action: "allow" } as const];
  return judgeCall({ ...push, ...call }, { rules }).verdict.action === "deny";
}

test.for<[Partial<Rule>, Partial<JudgedCall>, boolean]>([
  [{}, {}, true],
  [{ tools: ["shell"] }, {}, true],
  [{ tools: ["read_file", "shell"] }, {}, true],
  [{ tools: ["read_file"] }, {}, false],
  [{ risk: "medium" }, {}, true],
  [{ risk: "medium" }, { risk: "high" }, true],
  [{ risk: "medium" }, { risk: "low" }, false],
  [{ risk: "low" }, { risk: "low" }, true],
  [{ role: "member" }, {}, true],
  [{ role: "member" }, { role: "admin" }, false],
  [{ role: "<admin" }, { role: "guest" }, true],
  [{ role: "<admin" }, { role: "member" }, true],
  [{ role: "<admin" }, { role: "admin" }, false],
  [{ role: "<=admin" }, { role: "admin" }, true],
  [{ role: "<=admin" }, { role: "owner" }, false],
  [{ role: ">=admin" }, { role: "owner" }, true],
  [{ role: ">=admin" }, { role: "admin" }, true],
  [{ role: ">=admin" }, { role: "member" }, false],
  [{ role: ">admin" }, { role: "owner" }, true],
  [{ role: ">admin" }, { role: "admin" }, false],
  [{ origins: ["web"] }, {}, true],
  [{ origins: ["web", "mcp"] }, {}, true],
  [{ origins: ["file", "mcp"] }, {}, false],
  [{ origins: ["web"] }, { origins: [] }, false],
  [{ match: "git push *" }, {}, true],
  [{ match: "git push *" }, { input: { command: "git push" } }, true],
  [{ match: "git push *" }, { input: { command: "git pushy" } }, false],
  [{ match: "git * main" }, {}, true],
  [{ match: "git * m" }, {}, false],
  [{ match: "git push" }, {}, false],
  [{ match: "*--force*" }, { input: { command: "git push --force" } }, true],
  [{ match: "a*a" }, { input: { command: "a" } }, false],
  [{ match: ".*" }, {}, false],
  [{ match: '*"path":"/etc/*' }, { tool: "read_file", input: { path: "/etc/hosts" } }, true],
  [{ match: '*"path":"/etc/*' }, { tool: "read_file", input: { path: "/srv" } }, false],
  [{ tools: ["shell"], risk: "high", role: "<admin", origins: ["web"] }, {}, false],
  [{ tools: ["shell"], risk: "low", role: "<admin", origins: ["web"], match: "git *" }, {}, true],
])("a rule %j fits %j: %j", ([rule, call, fits]) => {
  expect(isDenied(rule, call)).toBe(fits);
});

test("the first rule that fits decides, says its name, and those before it say why they do not", () => {
  const rules: Rule[] = [
    { name: "rules[0] of group family", tools: ["read_file"], action: "deny" },
    { name: "rules[1] of group family", role: ">=admin", action: "allow" },
    { name: "rules[0]", risk: "medium", action: "ask", quorum: 2, approvers: "owner" },
    { name: "preset open: everything else", action: "allow" },
  ];

  const { verdict, looked } = judgeCall(push, { rules });

  expect(verdict).toEqual({ action: "ask", risk: "medium", rule: "rules[0]", quorum: 2, approvers: "owner" });
  expect(looked.map(({ rule, misfit }) => [rule.name, misfit])).toEqual([
    ["rules[0] of group family", "is for read_file"],
    ["rules[1] of group family", "is for role >=admin, this is asked by member"],
    ["rules[0]", undefined],
  ]);
});

test("what no rule fits is denied, and the model is told to do without it", () => {
  const { verdict } = judgeCall(push, { rules: [{ name: "low", tools: ["read_file"], action: "allow" }] });

  expect(verdict).toMatchObject({ action: "deny", rule: "no rule fits" });
  expect(verdict.reason).toContain('policy does not allow "shell"');
});

const someTool = constantFrom("shell", "read_file", "send_message");
const someRule = record({
  name: constantFrom("a", "b", "c"),
  tools: option(array(someTool, { minLength: 1, maxLength: 2 }), { nil: undefined }),
  risk: option(constantFrom(...risks), { nil: undefined }),
  role: option(constantFrom("guest", "<admin", ">=admin", "<=member", ">guest"), { nil: undefined }),
  origins: option(subarray([...origins], { minLength: 1 }), { nil: undefined }),
  match: option(constantFrom("*", "git *", "a*b"), { nil: undefined }),
  action: constantFrom(...actions),
}) as unknown as Parameters<typeof array<Rule>>[0];
const someCall = record({
  tool: someTool,
  input: record({ command: constantFrom("git push", "ab", "") }),
  risk: constantFrom(...risks),
  role: constantFrom(...roles),
  origins: subarray([...origins]),
});

test("a tool is withheld only when every call of it would be denied", () => {
  let withheld = 0;
  assert(
    property(array(someRule, { maxLength: 5 }), someCall, (rules, call) => {
      const isWithheld = isAlwaysDenied(call.tool, risks, { rules });
      if (isWithheld) withheld += 1;
      return !isWithheld || judgeCall(call, { rules }).verdict.action === "deny";
    }),
    { numRuns: 2_000 },
  );
  expect(withheld).toBeGreaterThan(100);
});

/** Reference implementation of `*`, ignoring time. */
function isLike(text: string, pattern: string): boolean {
  if (pattern === "") return text === "";
  if (pattern.startsWith("*")) return isLike(text, pattern.slice(1)) || (text !== "" && isLike(text.slice(1), pattern));
  return text !== "" && text.startsWith(pattern.slice(0, 1)) && isLike(text.slice(1), pattern.slice(1));
}

test("a pattern fits exactly the texts that it can be filled in to, in time that hostile ones cannot stretch", () => {
  const letters = string({ unit: constantFrom("a", "b"), maxLength: 7 });
  const pattern = string({ unit: constantFrom("a", "b", "*"), minLength: 1, maxLength: 7 });
  assert(
    property(
      letters,
      pattern,
      (command, match) => isDenied({ match }, { input: { command } }) === isLike(command, match),
    ),
    { numRuns: 2_000 },
  );
  expect(isDenied({ match: "*a".repeat(5_000) }, { input: { command: "a".repeat(20_000) } })).toBe(true);
  expect(isDenied({ match: `${"*a".repeat(5_000)}b` }, { input: { command: "a".repeat(20_000) } })).toBe(false);
});

test.each([
  ["git status", true],
  ["git status --short 2>/dev/null", true],
  ["git status 'a b' 2>&1", true],
  ["git status >/dev/null; echo PWN > p.txt", false],
  ["git status > p.txt", false],
  ["git status < .env", false],
  ["git status && ls", false],
  ["git status | sh", false],
  ["git status &", false],
  ["git status\nrm f", false],
  ["git status $(rm f)", false],
  ["git status `rm f`", false],
  ["git status $x", false],
  ["git status *", false],
  ["git status <(rm f)", false],
  ["git status {a,b}", false],
  ["git status <<E\n$(rm f)\nE", false],
  ["PAGER=x git status", false],
  ["(git status)", false],
  ["! git status", false],
  ["git status )", false],
])("a rule that allows `git status *` fits one simple command only: %j: %s", async (command, isAllowed) => {
  const { line, risk } = await judgeCommand(command, { writableMount: false, egress: false, injectedSecrets: false });
  const rules = [{ name: "first", match: "git status *", action: "allow" } as const];
  const { verdict } = judgeCall({ ...push, input: { command }, risk, line }, { rules });

  expect(verdict.action).toBe(isAllowed ? "allow" : "deny");
});

test.each([
  "git push",
  "git  push 2>&1",
  "ls; git push origin main",
  "ls && (cd x; git push)",
  "echo $(git push)",
  "if ls; then 'git' \"push\" -f; fi",
  "timeout 5 nohup /usr/bin/git push",
  "git push > log &",
  "f() { git push; }",
])("a rule that denies `git push *` fits wherever it stands: %j", async (command) => {
  const { line, risk } = await judgeCommand(command, { writableMount: false, egress: false, injectedSecrets: false });

  expect(isDenied({ match: "git push *" }, { input: { command }, risk, line })).toBe(true);
});

test("an allowing pattern never fits a command that nobody has parsed", () => {
  const rules = [{ name: "first", match: "*", action: "allow" } as const];

  expect(judgeCall(push, { rules }).verdict.action).toBe("deny");
});
