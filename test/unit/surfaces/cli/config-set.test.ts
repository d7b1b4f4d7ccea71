import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { crabpot, jsonLines, newHome } from "../../../support/crabpot.ts";

const file = `# ours
timezone: UTC # for now
gateway: { token: "\${TOKEN}" }
groups:
  # the children
  family: { channel: terminal, chat: family, policy: { tools: { shell: deny } } }
`;
const variables = { TOKEN: "token-0123456789" };

test("without a host a setting is changed in the file, comments stay, and the next start takes it", async () => {
  await using place = await newHome({ "config.yaml": file });
  const at = join(place.home, "config.yaml");
  const run = (...args: string[]) => crabpot({ ...place, variables }, "config", ...args);

  const set = await run("set", "timezone", "Asia/Tokyo");
  const nested = await run("set", "groups.family.budget", "{ usdPerDay: 2 }", "--json");
  const unset = await run("unset", "groups.family.policy");
  const got = [
    await run("get", "timezone"),
    await run("get", "groups.family.budget.usdPerDay", "--json"),
    await run("get", "groups.family.policy"),
    await run("get", "gateway.token"),
    await run("get", "sandbox.nameservers"),
  ];

  expect(set).toMatchObject({
    code: 0,
    stdout: `Wrote ${at}. No host is running; it takes effect at the next start.\n`,
  });
  expect(jsonLines(nested.stdout)).toEqual([{ file: at, paths: ["groups.family.budget"], applies: "start" }]);
  expect(unset.code).toBe(0);
  expect(await readFile(at, "utf8")).toBe(`# ours
timezone: Asia/Tokyo # for now
gateway: { token: "\${TOKEN}" }
groups:
  # the children
  family: { channel: terminal, chat: family, budget: { usdPerDay: 2 } }
`);
  expect(got.map(({ stdout }) => stdout)).toEqual([
    "Asia/Tokyo\n",
    '{"path":"groups.family.budget.usdPerDay","value":2}\n',
    "{ preset: open, rules: [], tools: {} }\n",
    "***\n",
    "(not set)\n",
  ]);
});

test("what could not be used, or would put a secret in clear where a variable was, changes nothing", async () => {
  await using place = await newHome({ "config.yaml": file });
  const run = (...args: string[]) => crabpot({ ...place, variables }, "config", ...args);

  const refused = [
    await run("set", "timezon", "UTC"),
    await run("set", "groups.family.policy.tools", "{ shel: deny }"),
    await run("set", "groups.family.model", "cheap"),
    await run("set", "gateway.token", "another-token"),
    await run("set", "groups.family.chat", "[1"),
    await run("unset", "groups.famly"),
    await run("set", "timezone.x", "1"),
    await run("get", "groups.famly"),
    await run("get", "a..b"),
  ];

  expect(refused.map(({ code, stdout }) => [code, stdout])).toEqual(
    [2, 2, 2, 2, 2, 1, 2, 1, 2].map((code) => [code, ""]),
  );
  expect(refused.map(({ stderr }) => stderr)).toEqual([
    expect.stringContaining("timezon: unknown key; did you mean timezone?"),
    expect.stringContaining("groups.family.policy.tools.shel: unknown tool shel; did you mean shell?"),
    expect.stringContaining('groups.family.model: there is no route "cheap"'),
    expect.stringMatching(/gateway.token comes from the environment variable TOKEN.*\n.*\$\{TOKEN\}/),
    expect.stringContaining("not valid YAML"),
    expect.stringContaining("Did you mean groups.family?"),
    expect.stringContaining("timezone is a value and has no keys"),
    expect.stringContaining("did you mean groups.family?"),
    expect.stringContaining("is not the path of a setting"),
  ]);
  for (const { stderr } of refused) expect(stderr).not.toContain("token-0123456789");
  expect(await readFile(join(place.home, "config.yaml"), "utf8")).toBe(file);
});

test("a file that is made keeps what the environment said and the groups that there were, and is for its owner alone", async () => {
  await using place = await newHome();
  const at = join(place.home, "config.yaml");
  const key = { OPENAI_API_KEY: "sk-0123456789abcdef" };

  const named = await crabpot({ ...place, variables: key }, "config", "set", "assistant.name", "claw");
  const grouped = await crabpot({ ...place, variables: key }, "config", "set", "groups.main.trigger", "mention");
  const expanded = await crabpot(
    { ...place, variables: key },
    "config",
    "set",
    "models.providers.openai.apiKey",
    key.OPENAI_API_KEY,
  );
  const shown = await crabpot({ ...place, variables: key }, "config", "check", "--json");

  expect([named.code, grouped.code, expanded.code]).toEqual([0, 0, 2]);
  expect(expanded.stderr).toContain("environment variable OPENAI_API_KEY");
  const text = await readFile(at, "utf8");
  expect(text).toContain("apiKey: ${OPENAI_API_KEY}");
  expect(text).toContain("groups: { main: { channel: terminal, chat: main, trigger: mention, main: true } }");
  expect(jsonLines(shown.stdout)).toMatchObject([{ ok: true, fromFile: true }]);
  expect((await stat(at)).mode & 0o777).toBe(0o600);
});

test("a file that is broken can be mended by the command, and one that is not YAML is left alone", async () => {
  await using place = await newHome({ "config.yaml": "timezone: Nowhere/City # where?\n" });
  const at = join(place.home, "config.yaml");

  const mended = await crabpot(place, "config", "set", "timezone", "UTC");
  const text = await readFile(at, "utf8");
  await writeFile(at, "timezone: [");
  const refused = await crabpot(place, "config", "set", "timezone", "UTC");

  expect([mended.code, text]).toEqual([0, "timezone: UTC # where?\n"]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("not valid YAML") as string });
  expect(await readFile(at, "utf8")).toBe("timezone: [");
});
