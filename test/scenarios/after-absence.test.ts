import { join } from "node:path";

import SQLite from "better-sqlite3";
import { expect, test } from "vitest";

import { AgentsInProcess } from "../support/agents-in-process.ts";
import { openEmbeddedHost } from "../support/embedded-host.ts";
import { openStore } from "../../src/stores/catalog.ts";
import type { TestHost } from "../support/host.ts";
import { shareModelHost, type TestGroup } from "../support/shared-host.ts";
import { listTurns } from "../../src/operations/turns/operations.ts";

const hour = 3_600_000;
const hosts = shareModelHost({
  groups: { waiting: {}, working: {}, commanded: {}, gone: {}, other: {} },
  withoutContainers: "all",
});

/** Makes everything that a host which is down has stored look as old as this. */
function age(host: TestHost, byMs: number): void {
  const database = new SQLite(join(host.home, "crabpot.sqlite"));
  database.prepare("update messages set received_at = received_at - ?").run(byMs);
  database.prepare("update turns set started_at = started_at - ?").run(byMs);
  database.prepare("update steps set at = at - ?").run(byMs);
  database.close();
}

/** Stores a message without acting on it, then kills the host. */
async function storeOnly({ host, name }: TestGroup, id: string, text: string, command?: string): Promise<void> {
  await using store = await openStore({ kind: "sqlite", path: join(host.home, "crabpot.sqlite") });
  await store.messages.insert(
    { channel: "http", chat: name, id, sender: { id: "ann", name: "Ann" }, text, mention: true },
    { group: name, state: command ? "handled" : "waiting", at: Date.now(), command },
  );
}

test("messages that waited for too long get one notice and are context from then on; younger ones are answered", async () => {
  const group = hosts.group("waiting", () => ({ text: "ok" }));
  const { host } = group;
  await host.end("SIGKILL");
  await storeOnly(group, "old-1", "@crab first");
  await storeOnly(group, "old-2", "@crab second");
  age(host, 2 * hour);
  await storeOnly(group, "young", "@crab third");

  await host.boot();
  const notice = await group.replyTo("old-1");
  const reply = await group.replyTo("young");
  await host.end("SIGKILL");
  await host.boot();
  await group.ask("@crab still there?", { id: "last" });

  expect(notice).toMatchObject({ kind: "notice", inReplyTo: ["old-1", "old-2"] });
  expect(notice.text).toContain("2 messages here are older than 60 minutes");
  expect(reply).toMatchObject({ kind: "reply", inReplyTo: ["young"] });
  expect(group.requests[0]?.lastText).toMatch(/first[\s\S]*second[\s\S]*third/);
  expect((await group.replies()).flatMap(({ inReplyTo }) => inReplyTo)).toEqual(["old-1", "old-2", "young", "last"]);
});

test("a turn that was under way goes on after a short absence and is given up after a long one, with what waited behind it", async () => {
  const hold = Promise.withResolvers<void>();
  let open = false;
  const group = hosts.group("working", async () => {
    if (!open) await hold.promise;
    return { text: "ok" };
  });
  const { host } = group;

  await group.say("@crab one", { id: "one" });
  await expect.poll(() => group.requests.length).toBe(1);
  await group.say("@crab two", { id: "two" });
  await host.end("SIGKILL");
  age(host, 2 * hour);
  open = true;
  await host.boot();
  const notice = await group.replyTo("one");
  await group.ask("@crab three", { id: "three" });
  hold.resolve();

  expect(notice).toMatchObject({ kind: "notice", inReplyTo: ["one", "two"] });
  expect(
    group.requests
      .at(-1)
      ?.messages.map(({ text }) => text)
      .join("\n"),
  ).toContain("The turn ended without an answer");
  expect(await group.replies()).toHaveLength(2);
  const turns = await host.control.call(listTurns, { group: "working", state: undefined, limit: 20 });
  expect(turns.map(({ state }) => state)).toContain("cancelled");
});

test("commands that were stored and not carried out when the host died are carried out once at the next start", async () => {
  const hold = Promise.withResolvers<void>();
  const group = hosts.group("commanded", async (request) => {
    if (request.lastText.includes("long work")) await hold.promise;
    return { text: `${request.messages.length} messages` };
  });
  const { host } = group;
  await group.say("@crab long work", { id: "work" });
  await expect.poll(() => group.requests.length).toBe(1);
  await host.end("SIGKILL");
  await storeOnly(group, "more", "@crab and more");
  await storeOnly(group, "stop", "/stop", "stop");
  await storeOnly(group, "new", "/new", "new");

  await host.boot();
  const fresh = await group.ask("@crab hello", { id: "hello" });
  await host.end("SIGKILL");
  await host.boot();
  const again = await group.say("/stop", { id: "stop" });
  hold.resolve();

  const replies = await group.replies();
  expect(replies.map(({ kind, inReplyTo }) => [kind, ...inReplyTo])).toEqual([
    ["notice", "work", "more", "stop"],
    ["notice", "new"],
    ["reply", "hello"],
  ]);
  expect(replies[0]?.text).toBe('Stopped by "Ann". The waiting message "and more" of "Ann" was dropped.');
  expect(fresh.text).toBe("1 messages");
  expect(again.body.duplicate).toBe(true);
  expect(group.requests).toHaveLength(2);
});

test("messages of a group that is not registered anymore stay as they are until it is again", async () => {
  const group = hosts.group("gone", () => ({ text: "ok" }));
  const other = hosts.group("other", () => ({ text: "ok" }));
  const { host } = group;
  await host.end("SIGKILL");
  await storeOnly(group, "waits", "@crab hello");
  await host.changeConfig({ groups: { other: { channel: "http", chat: "other" } } });

  await host.boot();
  await other.ask("@crab hello", { id: "elsewhere" });
  const status = await host.cli("status", "--json");
  await host.end("SIGTERM");
  await host.changeConfig({ groups: { gone: { channel: "http", chat: "gone" } } });
  await host.boot();
  const reply = await group.replyTo("waits");

  expect(JSON.parse(status.stdout)).toMatchObject({ waiting: [{ group: "gone", messages: 1 }] });
  expect(reply.kind).toBe("reply");
  expect([group.requests.length, other.requests.length]).toEqual([1, 1]);
});

test("what a platform kept for too long gets one notice and is context; what it kept for a while is answered", async () => {
  await using host = await openEmbeddedHost({}, { agents: new AgentsInProcess() });
  const { channel } = host;
  const old = Date.now() - 2 * hour;

  for (const id of ["o1", "o2"]) await channel.say("home", `hello ${id}`, { id, sentAt: old });
  await channel.say("home", "hello fresh", { id: "fresh", sentAt: Date.now() - 60_000 });
  await expect.poll(() => channel.heard("home")).toHaveLength(2);
  for (const id of ["o3", "o4", "o5"]) await channel.say("home", `hello ${id}`, { id, sentAt: old });
  await expect.poll(() => channel.heard("home")).toHaveLength(3);
  await channel.say("home", "hello last", { id: "last", sentAt: Date.now() + 10 * hour });
  await expect.poll(() => channel.heard("home")).toHaveLength(4);

  expect(channel.attempts.map(({ kind, inReplyTo }) => [kind, ...inReplyTo])).toEqual([
    ["notice", "o1", "o2"],
    ["reply", "fresh"],
    ["notice", "o3", "o4", "o5"],
    ["reply", "last"],
  ]);
  expect(channel.heard("home")[0]).toContain("2 messages here are older than 60 minutes");
});
