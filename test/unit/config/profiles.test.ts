import { chmod, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { builtInAdapters } from "../../../src/config/adapters.ts";
import { namesFor, parseProfile } from "../../../src/config/profiles/parse-profile.ts";
import {
  checkProfiles,
  describeProfileFault,
  profileNames,
  profileOf,
} from "../../../src/config/profiles/profile-files.ts";
import { actions, risks, type Rule } from "../../../src/domain/rights/policy.ts";
import { judgeCall } from "../../../src/rights/policy/judge.ts";
import { crabpot, newHome, withoutEngine } from "../../support/crabpot.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const checkout = resolve(import.meta.dirname, "../../..");
const mcp = { servers: {}, idleMinutes: 30, maxTools: 128 };
const names = namesFor({ models: { routes: { main: [], cheap: [] } } as never, mcp }, builtInAdapters);

function parsed(text: string) {
  const check = parseProfile("scout", text, names);
  if (!check.ok) throw new Error(check.faults.map((fault) => describeProfileFault("scout.md", fault)).join("\n"));
  return check.profile;
}

function faultsOf(text: string): string[] {
  const check = parseProfile("scout", text, names);
  return check.ok ? [] : check.faults.map((fault) => describeProfileFault("scout.md", fault));
}

test("a profile says what its agent is for, with which models and tools, and what it may not", () => {
  const text =
    "---\ndescription: Looks things up.\nroute: cheap\ntools: [read_file, shell]\nskills: [maps]\npermissions:\n  - tool: shell\n    risk: medium\n    action: deny\n---\n\nLook it up.\n\n---\nAnd say where.\n";
  const profile = parsed(text);

  expect(profile).toMatchObject({ name: "scout", description: "Looks things up.", route: "cheap", skills: ["maps"] });
  expect(profile.instructions).toBe("Look it up.\n\n---\nAnd say where.");
  const verdictOf = (tool: string, risk: "low" | "medium") => {
    const call = { tool, risk, input: {}, role: "owner", origins: [] } as const;
    return judgeCall(call, { rules: [...profile.rules, { name: "all", action: "allow" }] }).verdict;
  };
  expect(verdictOf("write_file", "low")).toMatchObject({ action: "deny", rule: "tools of profile scout" });
  expect(verdictOf("shell", "medium")).toMatchObject({ action: "deny", rule: "permissions[0] of profile scout" });
  expect([verdictOf("shell", "low").action, verdictOf("read_file", "medium").action]).toEqual(["allow", "allow"]);
});

test("what cannot be used is named with its file, its line and what was probably meant", () => {
  expect(faultsOf("Look it up.")).toEqual(["scout.md:1: must begin with front matter: a line of ---"]);
  expect(faultsOf("---\ndescription: x\n")).toEqual(["scout.md:1: has no line of --- that ends the front matter"]);
  expect(faultsOf("---\ndescription: x\nrout: cheap\n---\ntext")).toEqual([
    "scout.md:3: rout: unknown key; did you mean route?",
  ]);
  expect(faultsOf("---\ndescription: x\nroute: cheep\n---\ntext")).toEqual([
    'scout.md:3: route: there is no route "cheep"; did you mean cheap?',
  ]);
  expect(faultsOf("---\ndescription: x\ntools:\n  - shell\n  - raed_file\n---\ntext")).toEqual([
    "scout.md:5: tools[1]: unknown tool raed_file; did you mean read_file?",
  ]);
  expect(faultsOf("---\ndescription: x\n---\n \n")).toEqual([
    expect.stringContaining("says nothing behind its front matter"),
  ]);
  expect(faultsOf(`---\ndescription: x\n---\n${"x".repeat(32_001)}`)).toEqual([
    expect.stringContaining("at most 32000"),
  ]);
  expect(faultsOf("---\ndescription: [\n---\ntext")).toEqual([
    expect.stringMatching(/^scout\.md:\d: this is not valid YAML/),
  ]);
});

test("permissions can only take away", () => {
  for (const action of ["allow", "ask"]) {
    const faults = faultsOf(`---\ndescription: x\npermissions:\n  - tool: shell\n    action: ${action}\n---\ntext`);
    expect(faults).toEqual([expect.stringContaining("permissions[0].action: must be deny")]);
  }
});

test("with a profile nothing is allowed that is not without it", () => {
  const tool = fc.constantFrom("shell", "read_file", "write_file");
  const risk = fc.constantFrom(...risks);
  const rule = fc.record({ tools: fc.option(fc.array(tool), { nil: undefined }), action: fc.constantFrom(...actions) });
  const cases = fc.record({
    rules: fc.array(rule),
    tools: fc.option(fc.array(tool)),
    denied: fc.array(fc.record({ tool, risk })),
    called: fc.record({ tool, risk }),
  });
  fc.assert(
    fc.property(cases, ({ rules, tools, denied, called }) => {
      const permissions = denied.map((each) => ({ ...each, action: "deny" }));
      const front = JSON.stringify({ description: "x", permissions, ...(tools && { tools }) });
      const named: Rule[] = rules.map((each, index) => ({ ...each, name: String(index) }));
      const call = { ...called, input: {}, role: "owner", origins: [] } as const;
      const without = judgeCall(call, { rules: named }).verdict.action;
      const within = judgeCall(call, { rules: [...parsed(`---\n${front}\n---\ntext`).rules, ...named] }).verdict.action;
      expect([without, "deny"]).toContain(within);
    }),
  );
});

test("any text is a profile or has a fault with a line of it", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.string(), fc.boolean(), (front, body, isFramed) => {
      const text = isFramed ? `---\n${front}\n---\n${body}` : front;
      const check = parseProfile("any", text, names);
      if (check.ok) return;
      const lines = text.split("\n").length;
      for (const { line } of check.faults) expect(line).toSatisfy((each: number) => each >= 1 && each <= lines + 1);
    }),
  );
});

test("a file that others can write to, or a link, is no profile; what cannot be one is passed over", async () => {
  await using folder = await temporaryFolder();
  const text = "---\ndescription: x\n---\ntext";
  const write = (name: string, mode = 0o600) => writeFile(join(folder.path, name), text, { mode });
  await write("good.md");
  await write("open.md");
  await chmod(join(folder.path, "open.md"), 0o666);
  await symlink(join(folder.path, "good.md"), join(folder.path, "linked.md"));
  await write("README.txt");
  await write("Not a Name.md");

  expect(await profileNames(folder.path)).toEqual(["good", "linked", "open"]);
  const checked = await checkProfiles(folder.path, names);
  expect(checked.map(({ name, faults }) => [name, faults.length])).toEqual([
    ["good", 0],
    ["linked", 1],
    ["open", 1],
  ]);
  await expect(profileOf(folder.path, "open", names)).rejects.toThrow("can be written by other users");
  await expect(profileOf(folder.path, "goood", names)).rejects.toThrow("Did you mean good?");
  await expect(profileOf(folder.path, "../good", names)).rejects.toThrow("There is no profile");
  expect(await profileNames(join(folder.path, "nowhere"))).toEqual([]);
});

test("the profiles that come with crabpot can be used", async () => {
  const folder = join(checkout, "agents");
  const all = namesFor({ models: { routes: { main: [] } } as never, mcp }, builtInAdapters);
  await using copy = await temporaryFolder();
  for (const name of await readdir(folder)) {
    await writeFile(join(copy.path, name), await readFile(join(folder, name)), { mode: 0o600 });
  }

  const checked = await checkProfiles(copy.path, all);
  expect(checked.map(({ name }) => name)).toEqual(["researcher", "reviewer", "summarizer"]);
  expect(checked.flatMap(({ faults }) => faults)).toEqual([]);
});

test("the command line lists, shows and checks profiles, and the doctor finds a bad one", async () => {
  await using place = await newHome({});
  const agents = join(place.home, "agents");
  await mkdir(agents, { mode: 0o700 });
  await writeFile(join(agents, "scout.md"), "---\ndescription: Looks.\n---\nLook it up.", { mode: 0o600 });

  const shown = await crabpot(place, "profiles", "show", "scout");
  const good = await crabpot(place, "profiles", "check");
  await writeFile(join(agents, "bad.md"), "---\ndescription: x\ntool: []\n---\nx", { mode: 0o600 });
  const listed = await crabpot(place, "profiles", "list", "--json");
  const bad = await crabpot(place, "profiles", "check");
  const one = await crabpot(place, "profiles", "show", "bad");

  expect(shown.stdout).toContain("Look it up.");
  expect([good.code, bad.code, one.code]).toEqual([0, 1, 2]);
  const states = listed.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { name: string; state: string });
  expect(states.map(({ name, state }) => [name, state])).toEqual([
    ["bad", "invalid"],
    ["scout", "ok"],
  ]);
  expect(bad.stdout).toContain("bad.md:3: tool: unknown key; did you mean tools?");
  expect(one.stderr).toContain("bad.md:3: tool: unknown key");
  const doctor = await crabpot({ ...place, variables: withoutEngine }, "doctor", "--json");
  expect(doctor.stdout).toContain("bad.md:3");
});
