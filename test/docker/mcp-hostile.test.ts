import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { newHome } from "../support/crabpot.ts";
import { McpLines, type McpRig, mcpRig, ownProgram } from "../support/mcp-rig.ts";

/** Each is the whole of a server; none of them speaks the protocol. */
const programs = {
  short: `print("hello")\nraise SystemExit(3)`,
  hog: `print("begin")\nx = []\nwhile True: x.append(b"x" * 2**24)`,
  bomb: `
import os, signal, time
count = 0
try:
    while count < 2000:
        child = os.fork()
        if child == 0: signal.pause()
        count += 1
except OSError as error:
    print("refused", count)
input()`,
  polite: `
import sys
sys.stderr.write("\\x1b[31mno settings file\\n")
raise SystemExit(0)`,
  flood: `
import sys
while True: sys.stdout.write("x" * 65536)`,
  shout: `
import sys
for index in range(20000): sys.stderr.write(f"\\x1b[31mline {index}\\n")
print("still here")
input()`,
  escape: `
import os, socket, json
def outcome(action):
    try:
        action()
        return "open"
    except OSError as error:
        return type(error).__name__
print(json.dumps({
    "connect": outcome(lambda: socket.create_connection(("1.1.1.1", 53), 2)),
    "package": outcome(lambda: open("/opt/mcp/main.py", "a")),
    "root": outcome(lambda: open("/etc/x", "w")),
    "data": outcome(lambda: open("/data/kept", "w").write("kept")),
    "environment": sorted(os.environ),
    "interfaces": os.listdir("/sys/class/net") if os.path.exists("/sys/class/net") else [],
    "cwd": os.getcwd(),
}))
input()`,
  folder: `
import os
def outcome(path):
    try:
        open(path, "a").write("x")
        return "written"
    except OSError as error:
        return type(error).__name__
print(outcome("/workspace/group/note.md"), outcome("/workspace/group/AGENTS.md"), os.getuid())
input()`,
  stubborn: `
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("up")
while True: time.sleep(1)`,
  online: `
import os, socket
way = socket.create_connection(("127.0.0.1", 3128), 5)
way.sendall(b"CONNECT elsewhere.invalid:443 HTTP/1.1\\r\\nHost: elsewhere.invalid:443\\r\\n\\r\\n")
print(way.recv(4096).split(b"\\r\\n")[0].decode(), os.environ["https_proxy"])
input()`,
  all: `print("up")\ninput()`,
} as const;

let rig: McpRig;

beforeAll(async () => {
  const servers = Object.fromEntries(Object.keys(programs).map((name) => [name, ownProgram]));
  const special = {
    folder: { ...ownProgram, folder: "rw" },
    reader: { ...ownProgram, folder: "ro" },
    all: { ...ownProgram, scope: "shared" },
    online: { ...ownProgram, network: { allow: ["allowed.invalid:443"] } },
    secretive: { ...ownProgram, env: { TOKEN_FILE: "/data/x" } },
  };
  rig = await mcpRig({
    servers: { ...servers, ...special },
    programs: { ...programs, reader: programs.folder, secretive: programs.escape },
    config: { sandbox: { memoryMb: 256, pids: 64, workspaceMb: 64 } },
  });
});

afterAll(() => rig[Symbol.asyncDispose]());

test("what has ended says how, is on record and leaves no container", async () => {
  const streams = await rig.open("short");
  const container = rig.servers.list().find(({ server }) => server === "short")?.container ?? "";
  const lines = new McpLines(streams);

  expect(await lines.line()).toBe("hello");
  expect(await streams.ended).toEqual({ exitCode: 3, reason: "exit code 3" });
  await expect.poll(() => rig.engine.inspect(container)).toBeUndefined();
  await expect
    .poll(() => rig.events.find(({ type }) => type === "container.stopped"))
    .toMatchObject({
      group: "family",
      data: { container, reason: "exit code 3" },
    });
  expect(rig.servers.list().map(({ server }) => server)).not.toContain("short");
});

test("a server that ends by itself at once is told as that, with what it wrote last, also with exit code 0", async () => {
  const streams = await rig.open("polite");
  const container = rig.servers.list().find(({ server }) => server === "polite")?.container ?? "";
  streams.output.resume();
  await once(streams.output, "end");
  // Whoever reads hears of the end first, and lets go.
  await streams[Symbol.asyncDispose]();

  expect(await streams.ended).toEqual({
    exitCode: 0,
    reason: "exit code 0",
    lastLine: String.raw`\u{1b}[31mno settings file`,
  });
  const stopped = rig.events.find((event) => event.type === "container.stopped" && event.data.container === container);
  expect(stopped).toMatchObject({ data: { reason: "exit code 0" } });
});

test("what of the host a server sees is on record before its container is there", async () => {
  await rig.open("reader");
  const created = rig.events.findLast((event) => event.type === "container.created" && event.data.server === "reader");

  expect(created?.data).toMatchObject({
    mounts: expect.arrayContaining([
      { realPath: join(rig.home, "mcp/data/reader/family"), target: "/data", verdict: "rw" },
      { realPath: join(rig.home, "mcp/files/reader"), target: "/opt/mcp", verdict: "ro" },
      { realPath: expect.stringContaining("family"), target: "/workspace/group", verdict: "ro" },
    ]),
  });
});

test("a server that takes all memory is ended alone", async () => {
  const other = new McpLines(await rig.open("shout"));
  const hog = await rig.open("hog");

  expect(await hog.ended).toMatchObject({ exitCode: 137, reason: expect.stringMatching(/memory/) });
  expect(await other.line()).toBe("still here");
});

test("processes are bounded", async () => {
  const lines = new McpLines(await rig.open("bomb"));

  const [word, count] = (await lines.line()).split(" ");

  expect(word).toBe("refused");
  expect(Number(count)).toBeLessThan(64);
});

test("output that nobody reads waits in the container, and it can still be ended", async () => {
  const streams = await rig.open("flood");
  await once(streams.output, "readable");
  const began = performance.now();

  expect(streams.output.readableLength).toBeLessThan(2 ** 20);
  await streams[Symbol.asyncDispose]();

  expect(await streams.ended).toMatchObject({ reason: "ended by crabpot" });
  expect(performance.now() - began).toBeLessThan(20_000);
});

test("floods on standard error hold up neither the output nor the log, and cannot steer a terminal", async () => {
  const before = rig.logged.length;
  const lines = new McpLines(await rig.open("shout"));

  expect(await lines.line()).toBe("still here");
  const said = rig.logged.slice(before).join("");
  expect(said).toContain("line 0");
  expect(said).not.toContain("\u001b");
  expect(rig.logged.length - before).toBeLessThan(1_000);
});

test("a server sees no network, no variable of the host's and can change nothing but its own folder", async () => {
  const lines = new McpLines(await rig.open("secretive"));

  const found = JSON.parse(await lines.line()) as Record<string, unknown>;

  const refused = expect.stringMatching(/Error$/);
  expect(found).toMatchObject({ package: refused, root: refused, data: "open", interfaces: [], cwd: "/data" });
  expect(found["connect"]).not.toBe("open");
  expect(found["environment"]).toEqual(["HOME", "HOSTNAME", "LANG", "PATH", "TOKEN_FILE"]);
  const kept = join(rig.home, "mcp/data/secretive/family/kept");
  expect(await readFile(kept, "utf8")).toBe("kept");
  expect((await stat(kept)).uid).toBe(rig.servers.list().find(({ server }) => server === "secretive")?.user);
});

test("a network is the host's proxy, which judges for the server and not for its group", async () => {
  const line = await new McpLines(await rig.open("online")).line();

  expect(line).toMatch(/^HTTP\/1\.1 403 .*http:\/\/127\.0\.0\.1:3128$/);
  expect(rig.events.find(({ type }) => type === "egress.judged")).toMatchObject({
    group: "family",
    data: { verdict: "refused", server: "online", destination: { host: "elsewhere.invalid" } },
  });
});

test("the group's folder is there only if that is said, writable only for rw, never what the operator wrote", async () => {
  const writer = await new McpLines(await rig.open("folder")).line();
  const reader = await new McpLines(await rig.open("reader")).line();

  expect(writer).toMatch(/^written (OSError|PermissionError) \d+$/);
  expect(reader).toMatch(/^(OSError|PermissionError) (OSError|PermissionError) \d+$/);
  const [, , uidOfWriter] = writer.split(" ");
  expect(reader.split(" ")[2]).not.toBe(uidOfWriter);
  expect(String((await stat(join(rig.home, "groups/family"))).uid)).toBe(uidOfWriter);
});

test("a shared server has one container, which belongs to no group", async () => {
  await new McpLines(await rig.open("all", "work")).line();
  const [view] = rig.servers.list().filter(({ server }) => server === "all");

  expect(view?.group).toBeUndefined();
  const found = (await rig.engine.inspect(view?.container ?? "")) as { Config: { Labels: Record<string, string> } };
  expect(found.Config.Labels).toMatchObject({ "crabpot.mcp": "all", "crabpot.group": "" });
  expect(await stat(join(rig.home, "mcp/data/all/@shared"))).toBeTruthy();
});

test("one that ignores the end of its input is killed soon", async () => {
  const streams = await rig.open("stubborn");
  await new McpLines(streams).line();
  const began = performance.now();

  await streams[Symbol.asyncDispose]();

  expect(performance.now() - began).toBeGreaterThan(1_900);
  expect(rig.servers.list().map(({ server }) => server)).not.toContain("stubborn");
});

test("a server whose folder is too full is not started, and the message says which", async () => {
  await using full = await mcpRig({
    servers: { all: ownProgram },
    programs: { all: programs.all },
    config: { sandbox: { workspaceMb: 16 } },
  });
  const streams = await full.open("all");
  await streams[Symbol.asyncDispose]();
  await writeFile(join(full.home, "mcp/data/all/family/large"), Buffer.alloc(20 * 2 ** 20, "x"));

  await expect(full.open("all")).rejects.toMatchObject({
    code: "too_large",
    message: expect.stringContaining("mcp/data/all/family"),
  });
});

test("what a killed host leaves is removed at the next start, and nothing of another home", async () => {
  await using victim = await newHome();
  const program = resolve(import.meta.dirname, "../fixtures/mcp-victim.ts");
  const child = spawn(process.execPath, [program, victim.home], { stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(child, "close");
  const isUp = await Promise.race([once(child.stdout, "data").then(() => true), closed.then(() => false)]);
  child.kill("SIGKILL");
  await closed;
  await using next = await mcpRig({ home: victim.home, servers: {} });
  const foreign = await new McpLines(await rig.open("all")).line();
  const instance = (await readFile(join(victim.home, "instance"), "utf8")).trim();
  const ofVictim = (): Promise<unknown[]> => next.engine.list({ "crabpot.instance": instance });

  expect(isUp).toBe(true);
  expect(await ofVictim()).toHaveLength(1);
  await next.reconcile();

  expect(await ofVictim()).toEqual([]);
  expect(foreign).toBe("up");
  expect(rig.servers.list().map(({ server }) => server)).toContain("all");
});
