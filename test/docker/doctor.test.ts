import { chmod, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

import { expect, test } from "vitest";

import { checkSandbox } from "../../src/cli/doctor/sandbox.ts";
import { homePaths, prepareHome } from "../../src/config/home.ts";
import { builtInAdapters } from "../../src/config/adapters.ts";
import { configSchema } from "../../src/config/schema.ts";
import { readAgentImage } from "../../src/sandbox/images/agent-image.ts";
import { openEngine } from "../../src/sandbox/engine/catalog.ts";
import type { ContainerEngine, CreateBody } from "../../src/sandbox/engine/engine.ts";
import { openStore } from "../../src/stores/catalog.ts";
import { startControlledHost } from "../support/crabpot-control.ts";
import { crabpot, jsonLines, newHome } from "../support/crabpot.ts";

const checkout = resolve(import.meta.dirname, "../..");

/** Where no engine is: what is not about containers is found without one. */
const withoutEngine = { DOCKER_HOST: "unix:///nowhere/docker.sock" };

async function diagnose(home: string, variables: Record<string, string> = {}) {
  const { code, stdout } = await crabpot({ home, variables }, "doctor", "--json");
  const results = jsonLines(stdout);
  return { code, results, bad: results.filter((result) => result["ok"] !== true) };
}

test("a fresh home on a good machine is healthy, with a real container as proof", async () => {
  await using place = await newHome();
  const { instance } = await prepareHome(place.home);

  const { code, results, bad } = await diagnose(place.home);

  expect(bad).toEqual([]);
  expect(code).toBe(0);
  expect(results).toContainEqual(expect.objectContaining({ check: "sandbox", ok: true }));
  expect(Object.keys(results[0] ?? {})).toEqual(["check", "ok", "detail", "fix"]);
  await using engine = await openEngine({ env: process.env, homeFolder: place.home });
  expect(await engine.list({ "crabpot.instance": instance })).toEqual([]);
});

test("a running host is asked how it sees itself", async () => {
  await using place = await newHome();
  await prepareHome(place.home);
  await using host = await startControlledHost(place.home);

  const { results } = await diagnose(place.home, withoutEngine);

  const { pid } = await host.client.status();
  expect(results.at(-1)).toMatchObject({ check: "host", ok: true, detail: expect.stringContaining(`pid ${pid}`) });
});

test.for<[string, string, (home: string) => Promise<unknown>, RegExp]>([
  ["an open home", "home", (home) => chmod(home, 0o755), /chmod 700/],
  ["an open key", "permissions", (home) => openFile(join(home, "keys", "audit-ed25519.pem")), /chmod 600 .*pem/],
  [
    "a readable configuration with a key in it",
    "permissions",
    (home) => openFile(join(home, "config.yaml"), "gateway: { token: abcdefgh }"),
    /chmod 600 .*config\.yaml/,
  ],
  [
    "a link in place of the mounts",
    "permissions",
    (home) => symlink("/etc/hosts", join(home, "mounts.json")),
    /Replace/,
  ],
  ["a wrong configuration", "config", (home) => writeFile(join(home, "config.yaml"), "sandbx: {}"), /Edit .*yaml/],
  ["broken mounts", "mounts", (home) => writeFile(join(home, "mounts.json"), "{", { mode: 0o600 }), /Edit .*json/],
  [
    "a mount that is denied",
    "mounts",
    (home) =>
      writeFile(
        join(home, "config.yaml"),
        "groups: { a: { channel: terminal, chat: a, mounts: [{ source: /etc, target: etc }] } }",
      ),
    /Allow it in/,
  ],
  ["a link in place of a group's folder", "groups", (home) => symlink("/etc", join(home, "groups", "main")), /mv /],
  ["a broken database", "database", (home) => writeFile(join(home, "crabpot.sqlite"), "x".repeat(9_000)), /restore/],
  [
    "a provider that does not answer",
    "provider",
    (home) =>
      writeFile(
        join(home, "config.yaml"),
        "models: { routes: { main: [x/y] }, providers: { x: { kind: openai, apiKey: k, baseUrl: 'http://127.0.0.1:1' } } }",
        { mode: 0o600 },
      ),
    /models\.providers\.x/,
  ],
])("%s is found and told how to be mended", async ([, check, harm, fix]) => {
  await using place = await newHome();
  await prepareHome(place.home);
  await harm(place.home);

  const { code, bad } = await diagnose(place.home, withoutEngine);

  expect(code).toBe(1);
  const found = bad.find((result) => result["check"] === check);
  expect(found?.["fix"]).toMatch(fix);
  expect(found?.["detail"]).not.toBe("");
});

async function openFile(path: string, text = "secret"): Promise<void> {
  await writeFile(path, text);
  await chmod(path, 0o644);
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

  expect(result).toMatchObject({ ok: false, detail: expect.stringMatching(complaint) });
});
