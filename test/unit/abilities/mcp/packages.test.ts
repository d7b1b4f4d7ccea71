import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import type { StdioServer } from "../../../../src/domain/sandbox/mcp-server.ts";
import { readCommandLine } from "../../../../src/abilities/mcp/packages/command-line.ts";
import { readMcpLock } from "../../../../src/abilities/mcp/packages/lock-file.ts";
import { hashOfPackage } from "../../../../src/abilities/mcp/packages/package-tree.ts";
import {
  checkServer,
  installServer,
  type ServerPackageFolders,
  removeServer,
  requireServer,
} from "../../../../src/abilities/mcp/packages/server-packages.ts";
import { npmRegistry } from "../../../support/npm-registry.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

function server(args: readonly string[], more: Partial<StdioServer> = {}): StdioServer {
  const network = { allow: [], allowPrivate: [], reflects: [], secrets: [] };
  return {
    kind: "stdio",
    name: "tiny",
    tools: undefined,
    risk: undefined,
    command: "npx",
    args,
    env: {},
    image: undefined,
    network,
    scope: "group",
    folder: "none",
    sampling: true,
    forms: "choices",
    ...more,
  };
}

async function tinyPackage(folder: string, version: string): Promise<string> {
  const path = join(folder, version);
  await mkdir(path, { recursive: true });
  const manifest = {
    name: "tiny-server",
    version,
    bin: { "tiny-server": "main.js", other: "other.js" },
    scripts: { postinstall: `touch ${join(folder, "script-has-run")}` },
  };
  await writeFile(join(path, "package.json"), JSON.stringify(manifest));
  await writeFile(join(path, "main.js"), `#!/usr/bin/env node\nconsole.log(${JSON.stringify(version)})\n`);
  await writeFile(join(path, "other.js"), "#!/bin/sh\n");
  return path;
}

async function workshop() {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder());
  const sources = join(folder.path, "sources");
  const [old, young] = [await tinyPackage(sources, "1.0.0"), await tinyPackage(sources, "2.0.0")];
  const registry = stack.use(await npmRegistry([old, young]));
  const places: ServerPackageFolders = {
    lock: join(folder.path, "mcp.lock"),
    folder: join(folder.path, "packages"),
    variables: { ...process.env, ...registry.variables },
    now: () => 0,
  };
  const owned = stack.move();
  return { places, sources, registry, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

const needed = { signal: AbortSignal.timeout(120_000), installing: (): void => undefined };

test("the forms of a command line", () => {
  const wantedOf = (...args: string[]): unknown => readCommandLine(server(args)).wanted;

  expect(readCommandLine(server(["-y", "@scope/pkg@1.2.3", "--port", "1"]))).toEqual({
    wanted: { spec: "@scope/pkg@1.2.3", program: undefined },
    command: [],
    args: ["--port", "1"],
  });
  expect(wantedOf("--package=pkg", "prog")).toEqual({ spec: "pkg", program: "prog" });
  expect(wantedOf("-p", "pkg@1", "--", "prog")).toEqual({ spec: "pkg@1", program: "prog" });
  expect(readCommandLine(server(["x.py"], { command: "python3" }))).toEqual({
    wanted: undefined,
    command: ["python3"],
    args: ["x.py"],
  });
});

test.each([
  [server([])],
  [server(["--call", "rm -rf /"])],
  [server(["-y", "git+ssh://host/x"])],
  [server(["-y", "--prefix=/", "x"])],
  [server(["pkg"], { command: "uvx" })],
  [server(["run", "-i", "image"], { command: "docker" })],
  [server(["/c", "npx", "-y", "pkg"], { command: "cmd" })],
  [server(["dlx", "pkg"], { command: "pnpm" })],
])("what cannot be installed is refused with what to write instead", (refused) => {
  expect(() => readCommandLine(refused)).toThrow(
    expect.objectContaining({ code: "server_refused", fix: expect.stringContaining("mcp.servers.tiny") }),
  );
});

test("a package is installed once, without running its scripts, and its files are checked at each start", async () => {
  await using shop = await workshop();
  const { places, registry, sources } = shop;
  const wanted = server(["-y", "tiny-server@1.0.0"]);

  const first = await requireServer(wanted, places, needed);
  const asked = registry.asked.length;
  const second = await requireServer(wanted, places, needed);

  expect(first?.entry).toMatchObject({
    package: "tiny-server",
    version: "1.0.0",
    start: "node_modules/tiny-server/main.js",
    withScripts: ["tiny-server"],
  });
  expect(first?.entry.integrity).toMatch(/^sha512-/);
  expect(second).toEqual(first);
  expect(registry.asked.length).toBe(asked);
  expect(await readdir(sources)).not.toContain("script-has-run");

  await writeFile(join(first?.folder ?? "", "node_modules/tiny-server/extra.js"), "");
  await expect(requireServer(wanted, places, needed)).rejects.toMatchObject({ code: "conflict" });
  expect(await checkServer(wanted, places)).toMatchObject({ state: "changed" });

  await installServer(wanted, places);
  expect(await checkServer(wanted, places)).toMatchObject({ state: "ok" });
});

test("servers that are first needed at the same time are all installed", async () => {
  await using shop = await workshop();
  const { places } = shop;
  const names = ["one", "two", "three"];

  const installed = await Promise.all(
    names.map((name) => requireServer(server(["-y", "tiny-server@1.0.0"], { name }), places, needed)),
  );

  expect(installed.map((each) => each?.entry.version)).toEqual(["1.0.0", "1.0.0", "1.0.0"]);
  expect(Object.keys((await readMcpLock(places.lock)).servers).toSorted()).toEqual(names.toSorted());
});

test("another version in config.yaml is another package; a removed server leaves nothing", async () => {
  await using shop = await workshop();
  const { places } = shop;
  await requireServer(server(["-y", "tiny-server@1.0.0"]), places, needed);

  const next = await requireServer(server(["-y", "tiny-server@2.0.0"]), places, needed);
  await removeServer("tiny", places);

  expect(next?.entry.version).toBe("2.0.0");
  expect((await readMcpLock(places.lock)).servers).toEqual({});
  expect(await readdir(places.folder)).toEqual([]);
});

test("what is missing, or not for Node, is refused, and nothing of it stays", async () => {
  await using shop = await workshop();
  const { places } = shop;

  await expect(installServer(server(["-y", "no-such-thing"]), places)).rejects.toMatchObject({
    code: "server_refused",
    message: expect.stringMatching(/^npm could not fetch no-such-thing: Not Found - GET \S+.*[^.]\.$/),
  });
  await expect(installServer(server(["-p", "tiny-server", "other"]), places)).rejects.toThrow("not for Node");
  await expect(installServer(server(["-p", "tiny-server", "third"]), places)).rejects.toThrow("tiny-server, other");

  expect(await readdir(places.folder)).toEqual([]);
  expect((await readMcpLock(places.lock)).servers).toEqual({});
});

test("killed while it installs, it leaves what was there before, and the next time works", async () => {
  await using shop = await workshop();
  const { places } = shop;
  const before = await requireServer(server(["-y", "tiny-server@1.0.0"]), places, needed);
  const program = `
    const { installServer } = await import(${JSON.stringify(join(import.meta.dirname, "../../../../src/abilities/mcp/packages/server-packages.ts"))});
    const [server, places] = JSON.parse(process.env.WHAT);
    await installServer(server, { ...places, now: () => { process.kill(process.pid, "SIGKILL"); return 0; } });`;
  const what = JSON.stringify([server(["-y", "tiny-server@2.0.0"]), places]);
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    env: { ...places.variables, WHAT: what },
    stdio: "ignore",
  });
  const [, signal] = (await once(child, "close")) as [unknown, string];

  expect(signal).toBe("SIGKILL");
  expect(await checkServer(server(["-y", "tiny-server@1.0.0"]), places)).toMatchObject({
    state: "ok",
    entry: before?.entry,
  });
  const after = await requireServer(server(["-y", "tiny-server@2.0.0"]), places, needed);
  expect(after?.entry.version).toBe("2.0.0");
});

test("what others know of a server stays in the lock", async () => {
  await using shop = await workshop();
  const { places } = shop;
  await writeFile(places.lock, JSON.stringify({ version: 1, servers: { tiny: { tools: { a: 1 } } }, more: true }));

  await installServer(server(["-y", "tiny-server@1.0.0"]), places);

  const lock = JSON.parse(await readFile(places.lock, "utf8")) as Record<string, unknown>;
  expect(lock).toMatchObject({ more: true, servers: { tiny: { tools: { a: 1 }, package: { version: "1.0.0" } } } });
});

test("a link in a package is refused, and any change of a file changes the hash", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "a"), "1");
  const one = await hashOfPackage(folder.path);
  await writeFile(join(folder.path, "a"), "2");

  expect(await hashOfPackage(folder.path)).not.toBe(one);
  await symlink("/etc/passwd", join(folder.path, "b"));
  await expect(hashOfPackage(folder.path)).rejects.toThrow("b is a link");
});
