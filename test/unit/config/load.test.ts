import { chmod, chown, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { builtInAdapters } from "../../../src/config/adapters.ts";
import { checkConfig, describeFault, loadConfig } from "../../../src/config/loading/load.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

async function faultsOf(text: string, variables: Record<string, string> = {}): Promise<string[]> {
  const check = await checkText(text, variables);
  return check.ok ? [] : check.faults.map(describeFault);
}

async function checkText(text: string, variables: Record<string, string> = {}) {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "config.yaml");
  await writeFile(file, text, { mode: 0o600 });
  return await checkConfig(file, variables, builtInAdapters);
}

async function configOf(text: string, variables: Record<string, string> = {}) {
  const check = await checkText(text, variables);
  if (!check.ok) throw new Error(check.faults.map(describeFault).join("\n"));
  return check.loaded;
}

describe("without a file", () => {
  test.for([
    [{}, ["offline/scripted"], /no ANTHROPIC_API_KEY or OPENAI_API_KEY.*scripted model/],
    [{ ANTHROPIC_API_KEY: "k" }, ["anthropic/claude-sonnet-5-5"], /ANTHROPIC_API_KEY is set: anthropic\//],
    [{ OPENAI_API_KEY: "k" }, ["openai/gpt-6.1-sol"], /OPENAI_API_KEY is set: openai\//],
    [{ OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" }, ["anthropic/claude-sonnet-5-5"], /ANTHROPIC_API_KEY/],
    [{ OPENAI_API_KEY: "" }, ["offline/scripted"], /scripted model/],
  ] as const)("the key in %j decides which model answers, and the start says so", async ([variables, route, said]) => {
    await using folder = await temporaryFolder();

    const loaded = await loadConfig(join(folder.path, "config.yaml"), variables, builtInAdapters);

    expect(loaded.config.models.routes["main"]).toEqual(route);
    expect(loaded.announcements.join()).toMatch(said);
    expect(loaded.fromFile).toBe(false);
  });

  test("a base URL beside the key is used with it", async () => {
    await using folder = await temporaryFolder();

    const { config } = await loadConfig(
      join(folder.path, "config.yaml"),
      {
        OPENAI_API_KEY: "secret-key",
        OPENAI_BASE_URL: "http://localhost:1234/v1",
      },
      builtInAdapters,
    );

    expect(config.models.providers["openai"]).toEqual({
      kind: "openai",
      apiKey: "secret-key",
      baseUrl: "http://localhost:1234/v1",
    });
  });
});

test("an empty file means the defaults: a terminal with the group main and the scripted model", async () => {
  const { config } = await configOf("");

  expect(config.channels).toEqual({ terminal: {} });
  expect(config.groups["main"]).toMatchObject({ channel: "terminal", chat: "main", trigger: "always", main: true });
  expect(config.sandbox).toEqual({
    runtime: "runc",
    memoryMb: 1024,
    cpus: 1,
    pids: 256,
    workspaceMb: 4096,
    network: "none",
  });
});

test("the scripted model and the terminal are there even if only others are configured", async () => {
  const { config } = await configOf(
    "models: { providers: { gpt: { kind: openai, apiKey: k } } }\nchannels: { http: {} }\ngateway: { token: t }",
  );

  expect(Object.keys(config.models.providers)).toEqual(["offline", "gpt"]);
  expect(Object.keys(config.channels)).toEqual(["terminal", "http"]);
});

test("a loaded configuration cannot be changed by anybody", async () => {
  const { config } = await configOf(
    "groups: { a: { channel: terminal, chat: a, mounts: [{ source: /x, target: x }] } }",
  );

  expect(() => Object.assign(config.groups["a"]?.mounts[0] ?? {}, { access: "rw" })).toThrow(TypeError);
  expect(() => Object.assign(config, { sandbox: {} })).toThrow(TypeError);
});

describe("faults name the path and what to write instead", () => {
  test.for([
    ["models: { routes: { main: [x] } }", "models.routes.main[0]: write provider/model"],
    ["sandbox: { memroyMb: 512 }", "sandbox.memroyMb: unknown key; did you mean memoryMb?"],
    ["sandbox: { network: host }", 'sandbox.network: must be none or { allow: ["host:port", …] }'],
    ["sandbox: { memoryMb: 1 }", "sandbox.memoryMb: must be at least 128"],
    ["sesions: {}", "sesions: unknown key; did you mean sessions?"],
    ["groups: { a: { chanel: terminal, chat: x } }", "groups.a.chanel: unknown key; did you mean channel?"],
    [
      "models: { providers: { b: { kind: openai, apikey: x } } }",
      "models.providers.b.apikey: unknown key; did you mean apiKey?",
    ],
    [
      "models: { providers: { b: { kind: opnai } } }",
      'models.providers.b.kind: must be offline or anthropic or openai or gemini or deepseek or kimi or qwen or openrouter or mistral or groq or xai or ollama or vllm or llama.cpp, not "opnai"; did you mean openai?',
    ],
    [
      "models: { providers: { b: { kind: openai, apiKey: k, baseUrl: nope } } }",
      'models.providers.b.baseUrl: must be a URL, not "nope"',
    ],
    ["models: { default: mian }", 'models.default: there is no route "mian"; did you mean main?'],
    ["models: { routes: { main: [gtp/x] } }", 'models.routes.main[0]: there is no provider "gtp"; there are: offline'],
    [
      "models: { capabilities: { gtp/x: {} } }",
      'models.capabilities["gtp/x"]: there is no provider "gtp"; there are: offline',
    ],
    ["groups: { a: { channel: http, chat: x } }", 'groups.a.channel: there is no channel "http"; there are: terminal'],
    [
      "groups: { a: { channel: terminal, chat: x, model: fast } }",
      'groups.a.model: there is no route "fast"; there are: main',
    ],
    [
      "groups: { global: { channel: terminal, chat: x } }",
      /^groups.global: "global" cannot be the name of a group: crabpot uses it itself$/,
    ],
    [
      "groups: { a: { channel: terminal, chat: x }, b: { channel: terminal, chat: x } }",
      'groups.b.chat: chat "x" of channel terminal already belongs to group a',
    ],
    ["channels: { http: {} }", "gateway.token: is missing; the http channel needs one"],
    ["gateway: { host: 0.0.0.0 }", "gateway.token: is missing; 0.0.0.0 can be reached from other machines"],
    ["gateway: { token: 'a b' }", /^gateway\.token: holds white space/],
    ["timezone: 3", "timezone: must be text, not 3"],
    ["skills: al", 'skills: must be all or none or a list, not "al"; did you mean all?'],
    ["skills: [Gti]", /^skills\[0\]: /],
    [
      "memory: { embeddings: lcoal }",
      /^memory\.embeddings: must be none or local or a list of keys and values, not "lcoal"; did you mean local\?$/,
    ],
    ["memory: { embeddings: { provider: a, modle: b } }", "memory.embeddings.modle: unknown key; did you mean model?"],
    [
      "memory: { global: { read: mian } }",
      'memory.global.read: must be main or all or a list, not "mian"; did you mean main?',
    ],
    ["memory: { hygiene: { everyHours: -1 } }", "memory.hygiene.everyHours: must be at least 0"],
    ["budgets: { total: { usdPerDay: 0 } }", "budgets.total.usdPerDay: must be more than 0"],
    ['heartbeat: { from: "25:00", to: "08:00" }', 'heartbeat.from: must be a time of day in quotes, such as "08:00"'],
    ["- a", "must be a list of keys and values, not a list"],
  ] as const)("%s", async ([text, fault]) => {
    const faults = await faultsOf(text);

    expect(faults[0]).toMatch(typeof fault === "string" ? new RegExp(`^${RegExp.escape(fault)}$`) : fault);
  });

  test("all of them at once, the misspelt keys first", async () => {
    const faults = await faultsOf("sandbox: { cpus: x, pidz: 3 }\ntimezone: 1");

    expect(faults).toEqual([
      "sandbox.pidz: unknown key; did you mean pids?",
      "timezone: must be text, not 1",
      'sandbox.cpus: must be a number, not "x"',
    ]);
  });
});

describe("YAML that could mean two things, or too much, is refused", () => {
  test.for([
    ["twice the same key", "timezone: UTC\ntimezone: UTC"],
    ["a tag", "timezone: !!js/function x"],
    ["two documents", "timezone: UTC\n---\ntimezone: UTC"],
    ["a key that is no text", "? [a]\n: 1"],
    ["half a file", "groups: {"],
    ["an alias without anchor", "timezone: *x"],
    [
      "a bomb of aliases",
      `a0: &a0 [1, 1]\n${Array.from({ length: 7 }, (_, n) => `a${n + 1}: &a${n + 1} [${`*a${n}, `.repeat(9)}]\n`).join("")}`,
    ],
  ])("%s", async ([, text]) => {
    expect((await faultsOf(text ?? "")).join()).toMatch(/^this is not valid YAML: /);
  });

  test("a key that would reach into the program's objects is just unknown", async () => {
    expect((await faultsOf("__proto__: { main: true }")).join()).toMatch(/^__proto__: unknown key/);
    const group = 'groups: { "__proto__": { channel: terminal, chat: main } }';
    expect((await faultsOf(group)).join()).toMatch(/^groups\.__proto__: unknown key/);
  });
});

describe("variables", () => {
  test("are filled in, also in the middle of a text", async () => {
    const { config } = await configOf(
      'models: { providers: { a: { kind: openai, apiKey: "${KEY}", baseUrl: "http://${HOST}/v1" } } }',
      { KEY: "sk-1", HOST: "local" },
    );

    expect(config.models.providers["a"]).toMatchObject({ apiKey: "sk-1", baseUrl: "http://local/v1" });
  });

  test("one that is missing or empty is named with the place that wants it", async () => {
    expect(await faultsOf('gateway: { token: "${NOPE}" }')).toEqual([
      "gateway.token: the environment variable NOPE is not set",
    ]);
    expect(await faultsOf('gateway: { token: "${NOPE}" }', { NOPE: "" })).toHaveLength(1);
  });

  test("can give a number where one is wanted", async () => {
    const { config } = await configOf('gateway: { port: "${PORT}" }', { PORT: "8080" });

    expect(config.gateway.port).toBe(8080);
    expect(await faultsOf('gateway: { port: "${PORT}" }', { PORT: "http" })).toEqual([
      'gateway.port: must be a number, not "${PORT}"',
    ]);
  });

  test("a token of digits stays text", async () => {
    const { config } = await configOf('gateway: { token: "${TOKEN}" }', { TOKEN: "123456" });

    expect(config.gateway.token).toBe("123456");
  });

  test("a value that ends up in the wrong place is not shown", async () => {
    expect((await faultsOf('sandbox: { network: "${KEY}" }', { KEY: "sk-secret" })).join()).not.toContain("sk-secret");
  });

  test("whatever a value holds, it stays one value and is not read again", async () => {
    await fc.assert(
      fc.asyncProperty(fc.stringMatching(/^[\x21-\x7e]{1,60}$/), async (value) => {
        const loaded = await configOf('gateway: { token: "${V}" }', { V: value, x: "other" });

        expect(loaded.config.gateway.token).toBe(value);
        expect(loaded.secrets).toEqual([value]);
      }),
      { numRuns: 50 },
    );
  });

  test("$${ stands for ${", async () => {
    expect((await configOf('gateway: { token: "$${A}-${A}" }', { A: "x" })).config.gateway.token).toBe("${A}-x");
  });
});

test("a key that names a variable as a shell would is refused, wherever it stands", async () => {
  const text = [
    "models: { providers: { gpt: { kind: openai, apiKey: $OPENAI_API_KEY } } }",
    "gateway: { token: $token }",
    "groups: { a: { channel: terminal, chat: a, network: { allow: [api.example:443] }, secrets: { API: { value: $API_TOKEN, hosts: [api.example:443] } } } }",
  ].join("\n");

  expect(await faultsOf(text, { token: "very-secret" })).toEqual([
    'gateway.token: is the text $token, not the variable; write "${token}"',
    'groups.a.secrets.API.value: is the text $API_TOKEN, not the variable; write "${API_TOKEN}"',
    'models.providers.gpt.apiKey: is the text $OPENAI_API_KEY, not the variable; write "${OPENAI_API_KEY}"',
  ]);
  expect(await faultsOf('gateway: { token: "${T}" }', { T: "$IS_ITSELF" })).toEqual([]);
});

test.for([
  ["beside it", true, /There is a config.yml, too; only config.yaml is read/],
  ["instead of it", false, /There is a config.yml; only config.yaml is read/],
] as const)("a config.yml %s is refused", async ([, isBeside, said]) => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "config.yaml");
  await writeFile(join(folder.path, "config.yml"), "{}", { mode: 0o600 });
  if (isBeside) await writeFile(file, "{}", { mode: 0o600 });

  await expect(loadConfig(file, {}, builtInAdapters)).rejects.toThrow(said);
});

describe("a file that somebody else could have written is refused", () => {
  test("one that others can write to", async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, "config.yaml");
    await writeFile(file, "{}");
    await chmod(file, 0o620);

    await expect(loadConfig(file, {}, builtInAdapters)).rejects.toMatchObject({
      code: "config_invalid",
      fix: `chmod go-w ${file}`,
    });
  });

  test("a symbolic link", async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, "real.yaml"), "{}");
    await symlink(join(folder.path, "real.yaml"), join(folder.path, "config.yaml"));

    await expect(loadConfig(join(folder.path, "config.yaml"), {}, builtInAdapters)).rejects.toThrow(
      /cannot be used: It is a symbolic link/,
    );
  });

  test.runIf(process.geteuid?.() === 0)("one of another user", async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, "config.yaml");
    await writeFile(file, "{}", { mode: 0o600 });
    await chown(file, 12_345, 12_345);

    await expect(loadConfig(file, {}, builtInAdapters)).rejects.toThrow(/belongs to another user \(uid 12345\)/);
  });
});

test("a provider that no route uses is a warning", async () => {
  const { warnings } = await configOf("models: { providers: { gpt: { kind: openai, apiKey: k } } }");

  expect(warnings).toEqual([
    {
      path: "models.providers.gpt",
      detail: "no route uses it; the built-in scripted model answers",
      fix: "Set models.routes.main.",
    },
  ]);
});

test.for([
  ["Berlin", "did you mean Europe/Berlin?"],
  ["Europe/Berln", "did you mean Europe/Berlin?"],
  ["New York", "did you mean America/New_York?"],
  ["Mars/Olympus", "write an IANA name, such as Europe/Paris, or UTC"],
])("the time zone %s, which is none, is refused", async ([zone, hint]) => {
  expect(await faultsOf(`timezone: ${zone}`)).toEqual([`timezone: there is no time zone "${zone}"; ${hint}`]);
});
