import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";

import { describe, expect, test } from "vitest";

import { commandLine, crabpot, environmentOf, jsonLines, newHome, withoutEngine } from "../../support/crabpot.ts";
import { readPluginLock } from "../../../src/plugins/install/lock-file.ts";
import { examplePlugins, toolSource, writePlugin } from "../../support/plugins.ts";

const run = promisify(execFile);
const weather = join(examplePlugins, "weather");
/** No container is needed for what these tests are about. */
const isolation = "process";
const development = { "config.yaml": JSON.stringify({ plugins: { isolation } }) };

async function pluginsIn(home: string): Promise<string[]> {
  const names = await readdir(join(home, "plugins")).catch(() => []);
  return names.toSorted((one, other) => one.localeCompare(other));
}

test("a plugin is shown first; it is installed, listed and removed only with a yes", async () => {
  await using place = await newHome(development);

  const asked = await crabpot(place, "plugins", "add", weather);
  expect(asked).toMatchObject({ code: 3 });
  expect(asked.stdout).toContain("weather 1.2.0 (tool) is new");
  expect(asked.stdout).toContain("! Runs as a process of this user");
  expect(await readdir(place.home)).toEqual(["config.yaml"]);

  const added = await crabpot(place, "plugins", "add", weather, "--yes", "--json");
  expect(added).toMatchObject({ code: 0 });
  expect(jsonLines(added.stdout)[0]).toMatchObject({
    name: "weather",
    state: "installed",
    sha256: (await readPluginLock(join(place.home, "plugins.lock"))).plugins["weather"]?.sha256,
    provides: [{ kind: "tool", name: "get_weather", risk: "low", settings: ["unit", "apiKey"] }],
  });
  const listed = jsonLines((await crabpot(place, "plugins", "list", "--json")).stdout);
  expect(listed).toMatchObject([{ name: "weather", package: "@example/weather", version: "1.2.0", state: "ok" }]);
  const tools = jsonLines((await crabpot(place, "tools", "list", "--json")).stdout);
  expect(tools.find(({ name }) => name === "get_weather")).toMatchObject({ risk: "medium", offered: true });

  expect(await crabpot(place, "plugins", "remove", "weather")).toMatchObject({ code: 3 });
  expect(await crabpot(place, "plugins", "remove", "wether", "--yes")).toMatchObject({ code: 1 });
  expect(await crabpot(place, "plugins", "remove", "@example/weather", "--yes")).toMatchObject({ code: 0 });
  expect((await crabpot(place, "plugins", "list", "--json")).stdout).toBe("");
  expect(await pluginsIn(place.home)).toEqual([]);
});

test("checking a plugin reads it and never loads it, whatever its code would do", async () => {
  await using place = await newHome(development);
  const source = await writePlugin(join(place.home, ".."), "poker", {
    "index.js": 'console.error("it was loaded"); throw new Error("it was loaded");',
  });

  const checked = await crabpot(place, "plugins", "check", source);
  const [facts] = jsonLines((await crabpot(place, "plugins", "check", source, "--json")).stdout);
  const bad = await crabpot(place, "plugins", "check", await writePlugin(join(place.home, ".."), "x", {}));

  expect(checked).toMatchObject({ code: 0, stderr: "" });
  expect(checked.stdout).toContain("Nothing of it was loaded.");
  expect(facts).toMatchObject({ name: "poker", state: "planned", files: ["index.js", "package.json"] });
  expect(facts?.["sha256"]).toMatch(/^[0-9a-f]{64}$/);
  expect(bad).toMatchObject({ code: 1, stderr: expect.stringContaining("its module index.js is not in it") });
  expect(await readdir(place.home)).toEqual(["config.yaml"]);
});

test("the question tells what the container lets through; without an engine nothing is installed", async () => {
  await using place = await newHome();

  const asked = await crabpot(place, "plugins", "add", weather);
  const added = await crabpot({ ...place, variables: withoutEngine }, "plugins", "add", weather, "--yes");

  expect(asked).toMatchObject({ code: 3 });
  expect(asked.stdout).toContain("Runs in its own container");
  expect(asked.stdout).toContain("It can reach weather.example:443, and no other host.");
  expect(added.code).not.toBe(0);
  expect(added.stderr).toContain("nowhere");
  expect(await pluginsIn(place.home)).toEqual([]);
});

test("archives and packages of npm are installed like folders, without a script of theirs", async () => {
  await using place = await newHome(development);
  const at = (name: string): string => join(place.home, "..", name);
  const source = at("weather");
  await cp(weather, source, { recursive: true });
  const facts = JSON.parse(await readFile(join(source, "package.json"), "utf8")) as object;
  const scripts = { preinstall: `touch ${at("ran")}`, install: `touch ${at("ran")}`, prepare: `touch ${at("ran")}` };
  await writeFile(join(source, "package.json"), JSON.stringify({ ...facts, scripts }));
  await run("npm", ["pack", "--ignore-scripts", `--pack-destination=${at(".")}`, source]);

  const added = await crabpot(place, "plugins", "add", at("example-weather-1.2.0.tgz"), "--yes");

  expect(added).toMatchObject({ code: 0 });
  expect(await pluginsIn(place.home)).toEqual(["weather"]);
  expect(existsSync(at("ran"))).toBe(false);
});

/** A registry of npm with one package of one file. */
async function registryWith(folder: string, name: string, files: Readonly<Record<string, string>>) {
  const source = await writePlugin(folder, name, files, {
    crabpot: undefined,
    scripts: { install: `touch ${join(folder, "ran")}` },
  });
  await run("npm", ["pack", "--ignore-scripts", `--pack-destination=${folder}`, source]);
  const bytes = await readFile(join(folder, `${name}-1.0.0.tgz`));
  const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
  const server = createServer((request, response) => {
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const dist = { tarball: `${address}/${name}/-/${name}-1.0.0.tgz`, integrity };
    const versions = { "1.0.0": { name, version: "1.0.0", dist } };
    const metadata = JSON.stringify({ name, "dist-tags": { latest: "1.0.0" }, versions });
    response.end(request.url?.endsWith(".tgz") === true ? bytes : metadata);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

test("the packages that a plugin needs come from the registry, without a script of theirs", async () => {
  await using place = await newHome(development);
  const folder = join(place.home, "..", "sources");
  await using registry = await registryWith(folder, "shouting", {
    "index.js": "export const shout = (text) => text.toUpperCase();",
  });
  const variables = { npm_config_registry: registry.address };
  const code = toolSource("return shout(what);");
  const source = await writePlugin(
    folder,
    "shouter",
    {
      "index.js": `import { shout } from "shouting";\n${code}`,
      ".npmrc": "ignore-scripts=false\n",
      "node_modules/evil/x.js": "",
    },
    { dependencies: { shouting: "^1.0.0" } },
  );

  const added = await crabpot({ ...place, variables }, "plugins", "add", source, "--yes");

  expect(added).toMatchObject({ code: 0, stderr: "" });
  const files = await readdir(join(place.home, "plugins", "shouter"), { recursive: true });
  expect(files.filter((path) => path.includes("shouting/") && path.endsWith(".js"))).toEqual([
    "node_modules/shouting/index.js",
  ]);
  expect(files.filter((path) => path.includes("evil") || path.includes(".npmrc"))).toEqual([]);
  expect(existsSync(join(folder, "ran"))).toBe(false);
});

describe("refused, with nothing left behind:", () => {
  const tool = toolSource('return "";');
  const refusals: readonly [string, Readonly<Record<string, string>>, object, string][] = [
    ["a package that is no plugin", { "index.js": tool }, { crabpot: undefined }, 'has no "crabpot"'],
    [
      "a kind that comes later",
      { "index.js": tool },
      { crabpot: { kind: "transcriber" } },
      "no place for that kind of plugin yet",
    ],
    [
      "a kind that there is not",
      { "index.js": tool },
      { crabpot: { kind: "toool" } },
      'has the kind "toool"; there are tool, channel, provider',
    ],
    ["an unknown key", { "index.js": tool }, { crabpot: { kind: "tool", root: true } }, "is not valid: crabpot"],
    ["a module that is missing", {}, {}, "its module index.js is not in it"],
    ["a module outside of it", { "index.js": tool }, { exports: "../x.js" }, "lies outside of it"],
    [
      "a package of a repository",
      { "index.js": tool },
      { dependencies: { x: "git+https://git.example/x.git" } },
      "is no version of a registry",
    ],
    [
      "a package of a folder",
      { "index.js": tool },
      { dependencies: { x: "file:../x" } },
      "is no version of a registry",
    ],
    [
      "an address instead of a host",
      { "index.js": tool },
      { crabpot: { kind: "tool", hosts: ["10.0.0.1:443"] } },
      'names the host "10.0.0.1:443"',
    ],
    ["a name that is a setting", { "index.js": tool }, { name: "isolation" }, 'gives the name "isolation"'],
    ["a name that leads elsewhere", { "index.js": tool }, { name: "@x/..%2f" }, "gives the name"],
    ["code that throws", { "index.js": 'throw new Error("no luck")' }, {}, "no luck"],
    ["what exports no definition", { "index.js": "export default 7" }, {}, "its default export is no definition"],
    [
      "a tool with the name of one of crabpot's",
      { "index.js": tool.replace('"poke"', '"shell"') },
      {},
      "a tool of crabpot has that name",
    ],
    [
      "a tool that wants files of groups",
      { "index.js": tool.replace("risk:", 'needs: ["keepFile"], risk:') },
      {},
      "needs keepFile",
    ],
    [
      "a kind that package.json does not name",
      { "index.js": tool },
      { crabpot: { kind: "channel" } },
      "does not say that it has any tool",
    ],
    [
      "unseen words for the model",
      { "index.js": tool.replace("Pokes.", String.raw`Po\u{E0041}kes.`) },
      {},
      "characters in it that are not seen",
    ],
  ];

  test.for(refusals)("%s", async ([, files, facts, why]) => {
    await using place = await newHome(development);
    const source = await writePlugin(join(place.home, ".."), "poker", files, facts);

    const added = await crabpot(place, "plugins", "add", source, "--yes");

    expect(added.stderr).toContain(why);
    expect(added.code).toBe(1);
    expect(await pluginsIn(place.home)).toEqual([]);
    expect((await crabpot(place, "plugins", "list")).stdout).toContain("There are no plugins.");
  });

  test("a link to a file of the machine", async () => {
    await using place = await newHome(development);
    const source = await writePlugin(join(place.home, ".."), "poker", { "index.js": tool });
    await symlink("/etc/hostname", join(source, "hostname.js"));

    const added = await crabpot(place, "plugins", "add", source, "--yes");

    expect(added).toMatchObject({ code: 1, stderr: expect.stringContaining("hostname.js is a link") });
    expect(await pluginsIn(place.home)).toEqual([]);
  });

  test("a new version that is refused leaves the old one as it is", async () => {
    await using place = await newHome(development);
    const folder = join(place.home, "..");
    await crabpot(place, "plugins", "add", await writePlugin(folder, "poker", { "index.js": tool }), "--yes");
    const source = await writePlugin(folder, "poker", { "index.js": "throw new Error()" }, { version: "2.0.0" });

    expect(await crabpot(place, "plugins", "add", source, "--yes")).toMatchObject({ code: 1 });

    const listed = jsonLines((await crabpot(place, "plugins", "list", "--json")).stdout);
    expect(listed).toMatchObject([{ name: "poker", version: "1.0.0", state: "ok" }]);
  });
});

test("a command that is killed while it installs leaves nothing that is used, and the next one clears up", async () => {
  await using place = await newHome(development);
  const folder = join(place.home, "..");
  const source = await writePlugin(folder, "poker", {
    "index.js": "await new Promise((resolve) => setTimeout(resolve, 60_000));",
  });
  const child = spawn(commandLine, ["plugins", "add", source, "--yes"], { env: environmentOf(place), stdio: "ignore" });
  await expect
    .poll(() => existsSync(join(place.home, "plugins/.incoming/poker/index.js")), { timeout: 120_000 })
    .toBe(true);
  child.kill("SIGKILL");
  await once(child, "exit");

  expect((await crabpot(place, "plugins", "list")).stdout).toContain("There are no plugins.");
  expect(await crabpot(place, "plugins", "add", weather, "--yes")).toMatchObject({ code: 0 });
  expect((await pluginsIn(place.home)).filter((name) => !name.startsWith(".fetched-"))).toEqual(["weather"]);
});

test("one that was killed when the lock file had the new plugin is finished by whoever comes next", async () => {
  await using place = await newHome(development);
  await crabpot(place, "plugins", "add", weather, "--yes");
  const installed = join(place.home, "plugins");
  await mkdir(join(installed, ".incoming"));
  await rename(join(installed, "weather"), join(installed, ".incoming/weather"));

  const listed = jsonLines((await crabpot(place, "plugins", "list", "--json")).stdout);

  expect(listed).toMatchObject([{ name: "weather", state: "ok" }]);
  expect(await pluginsIn(place.home)).toEqual(["weather"]);
});

test("what was changed since it was installed is told by list and doctor, and its tools are not offered", async () => {
  await using place = await newHome(development);
  await crabpot(place, "plugins", "add", weather, "--yes");
  await writeFile(join(place.home, "plugins/weather/more.js"), "");

  const [listed] = jsonLines((await crabpot(place, "plugins", "list", "--json")).stdout);
  const doctor = jsonLines((await crabpot({ ...place, variables: withoutEngine }, "doctor", "--json")).stdout);
  const tools = jsonLines((await crabpot(place, "tools", "list", "--json")).stdout);

  expect(listed).toMatchObject({ state: "refused", reason: "its files are not those that were installed" });
  expect(doctor.filter(({ check }) => check === "plugins").map(({ detail }) => detail)).toEqual([
    "weather: its files are not those that were installed.",
    "They run as processes of this user, which Node's permissions keep from files and programs alone.",
  ]);
  expect(tools.find(({ name }) => name === "get_weather")).toMatchObject({ offered: false });
});

test("doctor says that plugins are not started where there is no engine for their containers", async () => {
  await using place = await newHome(development);
  await crabpot(place, "plugins", "add", weather, "--yes");
  await writeFile(join(place.home, "config.yaml"), "{}");

  const doctor = jsonLines((await crabpot({ ...place, variables: withoutEngine }, "doctor", "--json")).stdout);

  expect(doctor.filter(({ check }) => check === "plugins")).toMatchObject([
    { level: "failure", detail: expect.stringMatching(/^None is started: .*nowhere/) as string },
  ]);
});

test("settings of a plugin are checked by its own schema, and need not be there where it can do without", async () => {
  const settings = { unit: "K" };
  await using place = await newHome({
    "config.yaml": JSON.stringify({ plugins: { isolation, weather: { settings } } }),
  });

  const before = await crabpot(place, "config", "check");
  await crabpot(place, "plugins", "add", weather, "--yes");
  const after = await crabpot(place, "config", "check");

  expect(before.stdout + before.stderr).toContain("plugins.weather: unknown key");
  expect(after.stdout + after.stderr).toContain("plugins.weather.settings.unit: must be C or F");
});
