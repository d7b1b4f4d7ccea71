import { execFile } from "node:child_process";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { checkVersions } from "../../src/surfaces/cli/commands/doctor/machine/engine.ts";
import { checkSandbox } from "../../src/surfaces/cli/commands/doctor/machine/sandbox.ts";
import { homePaths, prepareHome } from "../../src/config/home/home.ts";
import { builtInAdapters } from "../../src/config/adapters.ts";
import { configSchema } from "../../src/config/schema/config.ts";
import { readAgentImage } from "../../src/sandbox/images/agent-image.ts";
import { openEngine } from "../../src/sandbox/engine/catalog.ts";
import type { ContainerEngine, CreateBody } from "../../src/sandbox/engine/engine.ts";
import { openStore } from "../../src/stores/catalog.ts";
import { readStatus } from "../../src/operations/host/operations.ts";
import { startControlledHost } from "../support/crabpot-control.ts";
import { crabpot, crabpotProcess, jsonLines, newHome, withoutEngine } from "../support/crabpot.ts";
import { onDisk } from "../support/temporary-folder.ts";

const checkout = resolve(import.meta.dirname, "../..");

async function diagnose(home: string, variables: Record<string, string> = {}, run = crabpot) {
  const { code, stdout } = await run({ home, variables }, "doctor", "--json");
  const results = jsonLines(stdout);
  return { code, results, bad: results.filter((result) => result["level"] === "failure") };
}

test("a fresh home on a good machine is healthy, with a real container as proof", async () => {
  await using place = await newHome();
  const { instance } = await prepareHome(place.home);

  const { code, results, bad } = await diagnose(place.home, {}, crabpotProcess);

  expect(bad).toEqual([]);
  expect(code).toBe(0);
  expect(results).toContainEqual(expect.objectContaining({ check: "sandbox", ok: true }));
  expect(Object.keys(results[0] ?? {})).toEqual(["check", "ok", "detail", "fix", "level"]);
  await using engine = await openEngine({ env: process.env, homeFolder: place.home });
  const { kind, version, address } = await engine.facts();
  expect(results).toContainEqual(
    expect.objectContaining({ check: "engine", ok: true, detail: `${kind} ${version} at ${address}` }),
  );
  expect(await engine.list({ "crabpot.instance": instance })).toEqual([]);
});

test("a running host is asked how it sees itself", async () => {
  await using place = await newHome();
  await prepareHome(place.home);
  await using host = await startControlledHost(place.home);

  const { results } = await diagnose(place.home, withoutEngine);

  const { pid } = await host.client.call(readStatus, {});
  expect(results.at(-1)).toMatchObject({ check: "host", ok: true, detail: expect.stringContaining(`pid ${pid}`) });
});

test("what is to be thought about is a warning, and the last line counts", async () => {
  await using place = await newHome({ "config.yaml": "gateway: { token: abcdefgh }" });

  const { results } = await diagnose(place.home, withoutEngine);
  const { code, stdout } = await crabpot({ home: place.home, variables: withoutEngine }, "doctor");

  expect(results).toContainEqual({
    check: "config",
    ok: true,
    detail: "gateway.token has only 8 characters.",
    fix: "Set it in config.yaml to the output of: openssl rand -hex 24",
    level: "warning",
  });
  expect(stdout).toMatch(/^warning {2}config: gateway\.token has only 8/m);
  expect(stdout).toMatch(/^failure {2}engine: .*docker\.sock/m);
  expect(stdout.trimEnd().split("\n").at(-1)).toBe(`${results.length - 2} ok, 1 warning, 1 failure`);
  expect(code).toBe(1);
});

test("known faults of an engine are warnings", async () => {
  await using engine = await openEngine({ env: process.env, homeFolder: "/" });
  const components = { runc: "1.4.0", containerd: "2.2.5" };
  const facts = { ...(await engine.facts()), version: "28.2.2", cgroupVersion: "2", components };

  const findings = checkVersions(facts);

  expect(findings).toMatchObject([{ level: "warning", detail: expect.stringContaining("CVE-2026-41567") }]);
});

test("a wrong configuration is said once, not by each check that needs it", async () => {
  await using place = await newHome({ "config.yaml": "sandbx: {}" });

  const { bad } = await diagnose(place.home, withoutEngine);

  expect(bad.map(({ check }) => check)).toEqual(["config", "engine"]);
});

test("a key that is not accepted is looked for where it is", async () => {
  await using place = await newHome();
  const variables = { ...withoutEngine, OPENAI_API_KEY: "k", OPENAI_BASE_URL: "http://127.0.0.1:1" };

  const { bad } = await diagnose(place.home, variables);

  expect(bad).toContainEqual(
    expect.objectContaining({ check: "provider", fix: expect.stringMatching(/OPENAI_API_KEY.*OPENAI_BASE_URL/) }),
  );
});

/** A fault in a home: the check that finds it, its cause, and the fix. */
type Harm = readonly [check: string, harm: (home: string) => Promise<unknown>, fix: RegExp];

const writeConfig =
  (text: string) =>
  (home: string): Promise<void> =>
    writeFile(join(home, "config.yaml"), text, { mode: 0o600 });

const unansweredProvider = "{ kind: openai, apiKey: k, baseUrl: 'http://127.0.0.1:1' }";

test.for<[string, readonly Harm[]]>([
  [
    "an open home, an open key, a readable configuration with a key in it and a link in place of the mounts",
    [
      ["home", (home) => chmod(home, 0o755), /^chmod 700/],
      ["permissions", (home) => openFile(join(home, "keys", "audit-ed25519.pem")), /^chmod 600 .*pem/],
      [
        "permissions",
        (home) => openFile(join(home, "config.yaml"), "gateway: { token: abcdefgh }"),
        /^chmod 600 .*config\.yaml/,
      ],
      [
        "permissions",
        (home) => symlink(join(import.meta.dirname, "../../mounts.example.json"), join(home, "mounts.json")),
        /^rm .*mounts\.json && cp -R .*mounts\.json$/,
      ],
    ],
  ],
  [
    "a link in place of a group's folder, mounts that others can write and a provider that does not answer",
    [
      [
        "provider",
        writeConfig(
          `groups: { main: { channel: terminal, chat: main } }\nmodels: { routes: { main: [x/y] }, providers: { x: ${unansweredProvider} } }`,
        ),
        /models\.providers\.x/,
      ],
      ["groups", (home) => symlink("/etc", join(home, "groups", "main")), /^mv /],
      ["mounts", (home) => openFile(join(home, "mounts.json"), '{"roots":[]}', 0o666), /^chmod go-w/],
    ],
  ],
  [
    "a wrong configuration and a broken database",
    [
      ["config", writeConfig("sandbx: {}"), /Edit .*yaml/],
      ["database", (home) => writeFile(join(home, "crabpot.sqlite"), "x".repeat(9_000)), /restore/],
    ],
  ],
  ["broken mounts", [["mounts", (home) => writeFile(join(home, "mounts.json"), "{", { mode: 0o600 }), /Edit .*json/]]],
  [
    "a mount without mounts.json",
    [
      [
        "mounts",
        async (home) => {
          await mkdir(join(home, "../projects"));
          await writeConfig(
            `groups: { a: { channel: terminal, chat: a, mounts: [{ source: ~/projects, target: here }] } }`,
          )(home);
        },
        /^\(umask 077; echo '\{"roots":\[\{"path":"~\/projects","access":"ro"\}\]\}' > .*mounts\.json\)$/,
      ],
    ],
  ],
  [
    "a mount that can never be allowed and one below no root",
    [
      [
        "mounts",
        writeConfig(
          "groups: { a: { channel: terminal, chat: a, mounts: [{ source: /etc, target: here }, { source: /opt, target: there }] } }",
        ),
        /never be mounted: .*, or remove it/,
      ],
      [
        "mounts",
        (home) => writeFile(join(home, "mounts.json"), '{"roots":[]}', { mode: 0o600 }),
        /Add \{"path":"\/opt","access":"ro"\} to "roots"/,
      ],
    ],
  ],
])("%s: each is found and told how to be mended", async ([, harms]) => {
  // No folder in memory may be mounted.
  await using place = await newHome({}, onDisk);
  await prepareHome(place.home);
  for (const [, harm] of harms) await harm(place.home);

  const { code, bad } = await diagnose(place.home, withoutEngine);

  expect(code).toBe(1);
  const found = harms.map(([check, , fix]) =>
    bad.find((result) => result["check"] === check && fix.test(String(result["fix"]))),
  );
  expect(found.map((result) => result?.["check"])).toEqual(harms.map(([check]) => check));
  for (const result of found) expect(result?.["detail"]).not.toMatch(/^$|denied.*denied/i);
  const mended = found.filter((result) => isCommand.test(String(result?.["fix"])));
  if (mended.length === 0) return;

  for (const result of mended)
    await promisify(execFile)("sh", ["-c", String(result?.["fix"])], { env: { PATH: process.env["PATH"] } });
  const after = await diagnose(place.home, withoutEngine);
  const checks = mended.map((result) => result?.["check"]);
  expect(after.bad.filter((result) => checks.includes(result["check"]))).toEqual([]);
});

/** Fixes that are commands; others are sentences. */
const isCommand = /^(chmod|mv|rm|\()/;

async function openFile(path: string, text = "secret", mode = 0o644): Promise<void> {
  await writeFile(path, text);
  await chmod(path, mode);
}

test("a good database passes, also while a host uses it", async () => {
  await using place = await newHome();
  await prepareHome(place.home);
  await using store = await openStore({ kind: "sqlite", path: homePaths(place.home).database });
  await store.sessions.open("main:terminal:main", "main");

  const { results } = await diagnose(place.home, withoutEngine);

  expect(results).toContainEqual(expect.objectContaining({ check: "database", ok: true }));
});

test("an engine that does not answer, or has not the runtime that is wanted, is named", async () => {
  await using place = await newHome({ "config.yaml": "sandbox: { runtime: kata }" });

  const away = await diagnose(place.home, withoutEngine);
  const other = await diagnose(place.home);

  expect(away.bad).toMatchObject([{ check: "engine", detail: expect.stringContaining("/nowhere/docker.sock") }]);
  expect(other.bad).toMatchObject([{ check: "runtime", detail: expect.stringContaining("no runtime kata") }]);
});

test("an engine that is not a socket of this machine is refused, with what to do, and the host does not wait for it", async () => {
  await using place = await newHome({
    "config.yaml": "channels: { http: {} }\ngateway: { token: t-0123456789abcdef }\n",
  });
  const variables = { DOCKER_HOST: "ssh://ann@box" };
  const said = 'DOCKER_HOST says "ssh://ann@box", but crabpot only uses an engine of this machine, by its unix socket.';
  const fix = "unset DOCKER_HOST, or set DOCKER_HOST=unix:///var/run/docker.sock";

  const [{ bad }, started] = await Promise.all([
    diagnose(place.home, variables),
    crabpot({ home: place.home, variables }, "start"),
  ]);

  expect(bad).toMatchObject([{ check: "engine", detail: said, fix }]);
  expect(started.code).toBe(3);
  expect(started.stderr).toContain(`${said}\n  fix: ${fix}`);
});

/** An engine that makes something else than what it is told, as a broken or hostile one would. */
function lyingEngine(engine: ContainerEngine, change: (hostConfig: object) => object): ContainerEngine {
  const create = (name: string, body: CreateBody) =>
    engine.create(name, { ...body, HostConfig: change(body["HostConfig"] as object) });
  return new Proxy(engine, {
    get: (target, name) => {
      if (name === "create") return create;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

test.for<[string, (hostConfig: object) => object, RegExp]>([
  ["more processes", (config) => ({ ...config, PidsLimit: 1_000 }), /It could start 128 processes although 64/],
  [
    "more memory",
    (config) => ({ ...config, Memory: 1024 ** 3, MemorySwap: 1024 ** 3 }),
    /It could use 256 MiB although 128 MiB/,
  ],
  ["no system call filter", (config) => ({ ...config, SecurityOpt: ["seccomp=unconfined"] }), /seccomp|system call/],
  ["a writable root", (config) => ({ ...config, ReadonlyRootfs: false }), /root is writable/],
])("an engine that gives containers %s is not good enough", async ([, change, complaint]) => {
  await using place = await newHome();
  const { paths } = await prepareHome(place.home);
  await using engine = await openEngine({ env: process.env, homeFolder: place.home });
  const { id } = await readAgentImage(checkout);
  const sandbox = configSchema(builtInAdapters).parse({}).sandbox;

  const result = await checkSandbox({ engine: lyingEngine(engine, change), imageId: id, sandbox, paths });

  expect(result).toMatchObject({ level: "failure", detail: expect.stringMatching(complaint) });
});
