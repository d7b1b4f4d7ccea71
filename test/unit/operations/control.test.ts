import { lstat, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { createServer } from "node:net";
import type { Socket } from "node:net";
import { once } from "node:events";
import { join } from "node:path";

import { expect, test } from "vitest";

import { HostClient } from "../../../src/surfaces/cli/host-client.ts";
import { addFailedTurn, startControlledHost } from "../../support/crabpot-control.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { readStatus } from "../../../src/operations/host/operations.ts";
import { addGroup, listGroups, removeGroup } from "../../../src/operations/groups/operations.ts";
import { listSessions, stopSession } from "../../../src/operations/sessions/operations.ts";
import { addWork, dropWork } from "../../../src/operations/work/operations.ts";
import { loginChannel } from "../../../src/operations/channels/operations.ts";
import { retryTurn, showTurn } from "../../../src/operations/turns/operations.ts";

const socketOf = (home: string): string => join(home, "control.sock");

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** The headers by which the host of this home knows its operator. */
async function knownTo(home: string): Promise<{ readonly authorization: string }> {
  return { authorization: `Bearer ${(await readFile(join(home, "control.key"), "utf8")).trim()}` };
}

async function ask(home: string, method: string, path: string, body?: string): Promise<Answer> {
  return askWith(await knownTo(home), home, method, path, body);
}

async function askWith(
  known: Readonly<Record<string, string>>,
  ...[home, method, path, body]: Parameters<typeof ask>
): Promise<Answer> {
  const headers = { ...known, ...(body !== undefined && { "content-type": "application/json" }) };
  const sent = request({ socketPath: socketOf(home), method, path: `/v1/control${path}`, headers, agent: false });
  sent.end(body);
  const [answer] = (await once(sent, "response")) as [AsyncIterable<Buffer> & { statusCode: number }];
  let text = "";
  for await (const chunk of answer) text += chunk.toString();
  return { status: answer.statusCode, text };
}

test("only the host's own user can connect, and nothing is left behind", async () => {
  await using folder = await temporaryFolder();
  const host = await startControlledHost(folder.path);

  const { mode } = await stat(socketOf(folder.path));
  const { mode: ofKey } = await stat(join(folder.path, "control.key"));
  const during = await readdir(folder.path);
  await host[Symbol.asyncDispose]();
  const after = await readdir(folder.path);

  expect([mode & 0o777, ofKey & 0o777]).toEqual([0o600, 0o600]);
  expect(during.filter((name) => name.startsWith("."))).toEqual([]);
  expect(after.filter((name) => name.startsWith("control"))).toEqual([]);
});

test.for([
  ["none", {}],
  ["another one", { authorization: `Bearer ${"0".repeat(64)}` }],
  ["an empty one", { authorization: "Bearer " }],
  ["as a cookie", { cookie: "key" }],
] as const)(
  "a process that reaches the socket but does not know the key is refused, whatever it asks: %s",
  async ([, headers]) => {
    await using folder = await temporaryFolder();
    await using host = await startControlledHost(folder.path);

    const add = '{"name":"x","channel":"terminal","chat":"c"}';
    const answers = await Promise.all([
      askWith(headers, folder.path, "POST", "/groups.add", add),
      askWith(headers, folder.path, "POST", "/status", "{}"),
      askWith(headers, folder.path, "POST", "/nothing", "{"),
      askWith(headers, folder.path, "GET", "/status"),
    ]);

    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await host.store.groups.list()).toEqual([]);
    expect(host.records).toEqual([]);
  },
);

test("each life of a host has its own key", async () => {
  await using folder = await temporaryFolder();
  const first = await startControlledHost(folder.path);
  const old = await knownTo(folder.path);
  await first[Symbol.asyncDispose]();
  await using second = await startControlledHost(folder.path);

  const answer = await askWith(old, folder.path, "POST", "/status", "{}");

  expect(answer.status).toBe(401);
  await expect(second.client.call(readStatus, {})).resolves.toMatchObject({ version: "1.2.3" });
});

test("the socket of a dead host is replaced", async () => {
  await using folder = await temporaryFolder();
  const dead = createServer().listen(`${socketOf(folder.path)}.bound`);
  await once(dead, "listening");
  // A name that outlives its listener, as after a crash.
  await rename(`${socketOf(folder.path)}.bound`, socketOf(folder.path));
  dead.close();
  await once(dead, "close");

  await using host = await startControlledHost(folder.path);

  await expect(host.client.call(readStatus, {})).resolves.toMatchObject({ version: "1.2.3" });
});

test("a second host in the same home is refused, and the first one stays reachable", async () => {
  await using folder = await temporaryFolder();
  await using first = await startControlledHost(folder.path);

  await expect(startControlledHost(folder.path)).rejects.toMatchObject({ code: "host_running" });

  await expect(first.client.call(readStatus, {})).resolves.toMatchObject({ pid: process.pid });
});

test("something else in the socket's place is not removed", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "mine"), "precious");
  await symlink(join(folder.path, "mine"), socketOf(folder.path));

  await expect(startControlledHost(folder.path)).rejects.toThrow(/should be the control socket/);

  expect((await lstat(socketOf(folder.path))).isSymbolicLink()).toBe(true);
});

test("a home with a path too long for a socket works all the same", async () => {
  await using folder = await temporaryFolder();
  const home = join(folder.path, "a".repeat(100), "b".repeat(100));
  await mkdir(home, { recursive: true });
  await using host = await startControlledHost(home);

  await expect(host.client.call(readStatus, {})).resolves.toMatchObject({ home });
});

test("without a host, the client says that none is running", async () => {
  await using folder = await temporaryFolder();
  await expect(new HostClient(socketOf(folder.path)).call(readStatus, {})).rejects.toMatchObject({
    code: "no_host",
    exitCode: 4,
  });

  await using host = await startControlledHost(folder.path);
  await rm(socketOf(folder.path));
  await expect(host.client.call(readStatus, {})).rejects.toMatchObject({ code: "no_host" });
  const longHome = join(folder.path, "a".repeat(120), "control.sock");
  await expect(new HostClient(longHome).call(readStatus, {})).rejects.toMatchObject({ code: "no_host" });
});

test.for([
  ["POST", "/groups.add", '{"name":"x","channel":"terminal","chat":"c","admin":true}', 400],
  ["POST", "/groups.add", '{"name":"x","channel":"terminal"}', 400],
  ["POST", "/groups.add", '{"__proto__":{"main":true},"name":"x","channel":"terminal","chat":"c"}', 400],
  ["POST", "/groups.add", "{", 400],
  ["POST", "/groups.add", "[]", 400],
  ["POST", "/groups.add", `{"name":"${"x".repeat(100_000)}"}`, 413],
  ["POST", "/turns.list", '{"limit":0}', 400],
  ["POST", "/turns.list", '{"sort":"up"}', 400],
  ["POST", "/nothing", "{}", 404],
  ["POST", "/toString", "{}", 404],
  ["GET", "/status", undefined, 404],
] as const)(
  "a request that no command makes is refused with a reason: %s %s %.40s",
  async ([method, path, body, status]) => {
    await using folder = await temporaryFolder();
    await using host = await startControlledHost(folder.path);

    const answer = await ask(folder.path, method, path, body);

    expect(answer.status).toBe(status);
    expect((JSON.parse(answer.text) as { error: { message: string } }).error.message).not.toBe("");
    expect(host.records).toEqual([]);
  },
);

test("a change is on record before it is made and after it has ended; looking is not", async () => {
  await using folder = await temporaryFolder();
  await using host = await startControlledHost(folder.path);
  const { client } = host;

  await client.call(listGroups, {});
  await client.call(addGroup, { name: "family", channel: "terminal", chat: "f" });
  await expect(client.call(removeGroup, { name: "main" })).rejects.toMatchObject({ code: "conflict" });

  const parameters = { name: "family", channel: "terminal", chat: "f", trigger: "mention", main: false, adopt: false };
  expect(host.records).toEqual([
    { operation: "groups.add", parameters, outcome: "asked" },
    { operation: "groups.add", parameters, outcome: "done" },
    { operation: "groups.remove", parameters: { name: "main" }, outcome: "asked" },
    { operation: "groups.remove", parameters: { name: "main" }, outcome: "conflict" },
  ]);
});

test("what cannot be put on record is not done, and the caller is not told why", async () => {
  await using folder = await temporaryFolder();
  await using host = await startControlledHost(folder.path);
  host.breakAudit();

  const answer = await ask(folder.path, "POST", "/groups.add", '{"name":"x","channel":"terminal","chat":"c"}');

  expect(answer.status).toBe(500);
  expect(answer.text).not.toContain("disk");
  expect(await host.store.groups.list()).toEqual([]);
});

test("a group added at run time takes its budget from the configuration and survives a restart", async () => {
  await using folder = await temporaryFolder();
  const before = await startControlledHost(folder.path);
  await before.client.call(addGroup, { name: "family", channel: "terminal", chat: "f" });
  await before[Symbol.asyncDispose]();
  await using host = await startControlledHost(folder.path);

  const groups = await host.client.call(listGroups, {});

  expect(groups).toMatchObject([
    { name: "family", trigger: "mention", mounts: [], origin: "store" },
    { name: "main", origin: "config" },
  ]);
});

test.for([
  [{ name: "../x", channel: "terminal", chat: "c" }, "bad_input"],
  [{ name: "x", channel: "telegraph", chat: "c" }, "not_found"],
  [{ name: "x", channel: "terminal", chat: "c", model: "fast" }, "bad_input"],
  [{ name: "x", channel: "whatsapp", chat: "120363" }, "bad_input"],
  [{ name: "x", channel: "terminal", chat: "main" }, "conflict"],
  [{ name: "main", channel: "terminal", chat: "c" }, "conflict"],
] as const)("a group that cannot be is refused: %j", async ([group, code]) => {
  await using folder = await temporaryFolder();
  await using host = await startControlledHost(folder.path);

  await expect(host.client.call(addGroup, group)).rejects.toMatchObject({ code });
});

test("a failed turn can be read step by step and retried, a finished one cannot", async () => {
  await using folder = await temporaryFolder();
  await using host = await startControlledHost(folder.path);
  await addFailedTurn(host.store, "t1");
  const { client } = host;

  const report = await client.call(showTurn, { id: "t1", maxChars: 100 });

  expect(report).toMatchObject({
    elapsedMs: 2_000,
    usage: { cached: 40, uncached: 60, written: 0, output: 7, usd: 0.007 },
  });
  expect(report.steps.map((step) => [step.kind, step.afterMs])).toEqual([
    ["user", 0],
    ["model", 250],
    ["tools", 1_000],
  ]);
  expect(report.steps[1]).toMatchObject({ toolCalls: [{ name: "shell", input: '{"command":"ls"}' }] });
  expect(report.steps[2]).toMatchObject({ results: [{ chars: 5_000, output: `${"x".repeat(100)}… (4900 more)` }] });
  expect(await client.call(retryTurn, { id: "t1" })).toEqual({ turn: "t1", requeued: 1 });
  await expect(client.call(retryTurn, { id: "nope" })).rejects.toMatchObject({ code: "not_found" });
});

test("a session is stopped by its id, its key or its group", async () => {
  await using folder = await temporaryFolder();
  await using host = await startControlledHost(folder.path);
  const session = await host.store.sessions.open("main:terminal:main", "main");
  const { client } = host;
  const hot = {
    session: session.id,
    group: "main",
    generation: 1,
    container: "c",
    state: "idle",
    lastUsedAt: 5,
  } as const;

  for (const target of [session.id, session.key, "main"]) {
    host.pool.hot = [{ ...hot, name: "crabpot-x" }];
    expect((await client.call(listSessions, {}))[0]).toMatchObject({ container: { name: "crabpot-x", state: "idle" } });
    expect(await client.call(stopSession, { target })).toEqual({ stopped: ["crabpot-x"] });
  }

  expect(await client.call(stopSession, { target: "main" })).toEqual({ stopped: [] });
  await expect(client.call(stopSession, { target: "other" })).rejects.toMatchObject({ code: "not_found" });
});

test("the beginning of an id is enough when no other has it; else the candidates are named", async () => {
  await using folder = await temporaryFolder();
  await using host = await startControlledHost(folder.path);
  const { client } = host;
  for (const id of ["3f10", "3f2a", "3"]) await addFailedTurn(host.store, id);
  const session = await host.store.sessions.open("main:terminal:main", "main");
  const work = await client.call(addWork, { group: "main", text: "tidy up", silent: true });

  expect((await client.call(showTurn, { id: "3", maxChars: 100 })).turn.id).toBe("3");
  expect((await client.call(showTurn, { id: "3f2", maxChars: 100 })).turn.id).toBe("3f2a");
  expect(await client.call(retryTurn, { id: "3f1" })).toEqual({ turn: "3f10", requeued: 1 });
  await expect(client.call(retryTurn, { id: "3f" })).rejects.toMatchObject({
    code: "bad_input",
    message: '"3f" is the beginning of more than one turn: 3f10, 3f2a.',
  });
  await expect(client.call(showTurn, { id: "4", maxChars: 100 })).rejects.toMatchObject({ code: "not_found" });
  expect(await client.call(stopSession, { target: session.id.slice(0, 5) })).toEqual({ stopped: [] });
  expect(await client.call(dropWork, { id: work.id.slice(0, 8) })).toEqual({ dropped: work.id });
  await expect(client.call(dropWork, { id: "x" })).rejects.toMatchObject({ code: "not_found" });
});

test("a login is told event by event; a channel without one says that it needs none", async () => {
  await using folder = await temporaryFolder();
  await using host = await startControlledHost(folder.path);
  const { client } = host;

  expect(await Array.fromAsync(client.follow(loginChannel, { name: "messenger" }))).toEqual([
    { pairingCode: "ABCD-1234" },
    { state: "open" },
  ]);
  expect(await Array.fromAsync(client.follow(loginChannel, { name: "terminal" }))).toEqual([
    { state: "open", detail: "The channel terminal needs no login." },
  ]);
  await expect(client.follow(loginChannel, { name: "nope" }).next()).rejects.toMatchObject({ code: "not_found" });
});

test("stopping ends connections that are open at that moment", async () => {
  await using folder = await temporaryFolder();
  const host = await startControlledHost(folder.path);
  const headers = { ...(await knownTo(folder.path)), "content-type": "application/json" };
  const sent = request({ socketPath: socketOf(folder.path), method: "POST", path: "/v1/control/groups.add", headers });
  const broken = once(sent, "error");
  sent.write("{");
  const [socket] = (await once(sent, "socket")) as [Socket];
  if (socket.connecting) await once(socket, "connect");

  await host[Symbol.asyncDispose]();

  await expect(broken).resolves.toHaveLength(1);
});
