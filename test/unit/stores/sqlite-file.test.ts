import { spawn } from "node:child_process";
import { chmod, mkdir, open, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";

import SQLite from "better-sqlite3";
import { expect, test } from "vitest";

import { openAuditWitness, openStore } from "../../../src/stores/catalog.ts";
import { openSqliteStore } from "../../../src/stores/sqlite/open-sqlite-store.ts";
import {
  draft,
  finished,
  insert,
  insertCommand,
  runningTurn,
  say,
  stopping,
  inChat,
} from "../../contracts/store-setup.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { ofMember } from "../../support/lineages.ts";

const placed = { group: "family", state: "waiting", at: 1 } as const;

async function newStore() {
  const folder = await temporaryFolder();
  const path = join(folder.path, "home", "crabpot.sqlite");
  return { folder, path, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

/** Runs `program` of the fixtures with a store path; gives its lines of output. */
function startWriter(path: string, { fileSizeKb }: { fileSizeKb?: number } = {}) {
  const program = join(import.meta.dirname, "../../fixtures/stores/store-writer.ts");
  const limit = fileSizeKb === undefined ? "" : `ulimit -f ${fileSizeKb}; `;
  const child = spawn("bash", ["-c", `${limit}exec "$0" "$@"`, process.execPath, program, path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, lines, [Symbol.dispose]: () => child.kill("SIGKILL") };
}

test("only the owner can read the store, and a file that others could read is made private", async () => {
  await using place = await newStore();
  {
    await using store = await openStore({ kind: "sqlite", path: place.path });
    await insert(store, "1");
  }
  await chmod(place.path, 0o644);

  await using store = await openStore({ kind: "sqlite", path: place.path });
  await insert(store, "2");

  const home = join(place.folder.path, "home");
  expect((await stat(home)).mode & 0o777).toBe(0o700);
  const files = await readdir(home);
  const written = ["crabpot.sqlite", "events.sqlite"].flatMap((file) => [file, `${file}-shm`, `${file}-wal`]);
  expect(files.toSorted()).toEqual(written);
  for (const file of files) expect((await stat(join(home, file))).mode & 0o777).toBe(0o600);
});

test("a store of a newer version is refused with a sentence that says so, and left as it is", async () => {
  await using place = await newStore();
  {
    await using store = await openStore({ kind: "sqlite", path: place.path });
    await insert(store, "1");
  }
  using database = closing(new SQLite(place.path));
  database.it.exec(`insert into kysely_migration values ('9999-from-the-future', '2099-01-01T00:00:00.000Z')`);

  const opening = openStore({ kind: "sqlite", path: place.path });

  await expect(opening).rejects.toMatchObject({
    code: "store_failed",
    message: expect.stringMatching(/newer version.*9999-from-the-future/),
  });
  expect(database.it.prepare("select count(*) as count from messages").get()).toEqual({ count: 1 });
});

test("a database of another program and a file that is no database are refused", async () => {
  await using place = await newStore();
  await mkdir(join(place.folder.path, "home"));
  const other = join(place.folder.path, "other.sqlite");
  using database = closing(new SQLite(other));
  database.it.exec("create table bookmarks (url text)");
  await writeFile(place.path, "these are my notes, not a database ".repeat(100));

  await expect(openStore({ kind: "sqlite", path: other })).rejects.toMatchObject({
    message: expect.stringContaining("another program"),
  });
  await expect(openStore({ kind: "sqlite", path: place.path })).rejects.toMatchObject({
    code: "store_failed",
    message: expect.stringContaining("not a crabpot database"),
  });
  await expect(openStore({ kind: "sqlite", path: place.folder.path })).rejects.toMatchObject({ code: "store_failed" });
});

test("a damaged file is reported as damaged, with the cause", async () => {
  await using place = await newStore();
  {
    await using store = await openStore({ kind: "sqlite", path: place.path });
    for (let id = 0; id < 200; id += 1) await insert(store, String(id));
  }
  const file = await open(place.path, "r+");
  const { size } = await file.stat();
  for (let page = 4096 * 2; page < size; page += 4096) await file.write(Buffer.alloc(2048, 0xa5), 0, 2048, page);
  await file.close();

  const reading = (async () => {
    await using store = await openStore({ kind: "sqlite", path: place.path });
    await store.messages.after(inChat("family"), 0, 1_000);
  })();

  await expect(reading).rejects.toMatchObject({
    code: "store_failed",
    message: expect.stringContaining("damaged"),
    cause: { code: expect.stringMatching(/^SQLITE_CORRUPT/) },
  });
});

test("while another process holds the file, writing fails as a whole; afterwards it goes on", async () => {
  await using place = await newStore();
  await using store = await openSqliteStore({ path: place.path, busyTimeoutMs: 20 });
  await runningTurn(store);
  using other = closing(new SQLite(place.path));
  other.it.exec("begin immediate");

  const refused = store.turns.finish("t", { ...finished, outgoing: [draft("reply")] });

  await expect(refused).rejects.toMatchObject({ code: "store_failed", message: expect.stringContaining("too long") });
  expect(await store.turns.get("t")).toMatchObject({ state: "running" });
  other.it.exec("rollback");
  expect(await store.turns.finish("t", { ...finished, outgoing: [draft("reply")] })).toHaveLength(1);
});

test("a full disk refuses new messages, keeps every acknowledged one, and needs no repair", async () => {
  await using place = await newStore();
  using writer = startWriter(place.path, { fileSizeKb: 1_000 });

  let acknowledged = 0;
  let failure = "";
  for await (const line of writer.lines) {
    if (line.startsWith("stored ")) acknowledged += 1;
    else failure = line;
  }

  expect(failure).toMatch(/^failed store_failed .*(disk is full|disk failed)/);
  expect(acknowledged).toBeGreaterThan(10);
  await using store = await openStore({ kind: "sqlite", path: place.path });
  expect(await store.messages.countAfter(inChat("family"), 0)).toBe(acknowledged);
  expect(await store.messages.insert(say("afterwards"), placed)).toMatchObject({ duplicate: false });
});

test("a host that is killed while it stores loses nothing that it acknowledged", async () => {
  await using place = await newStore();
  using writer = startWriter(place.path);
  const acknowledged: string[] = [];
  for await (const line of writer.lines) {
    acknowledged.push(line.replace("stored ", ""));
    if (acknowledged.length === 60) writer.child.kill("SIGKILL");
  }

  await using store = await openStore({ kind: "sqlite", path: place.path });

  const stored = new Set((await store.messages.after(inChat("family"), 0, 100_000)).map((message) => message.id));
  expect(acknowledged.length).toBeGreaterThanOrEqual(60);
  for (const id of acknowledged) expect(stored).toContain(id);
});

test("a closed store says that it is closed, after it has finished what was asked before", async () => {
  await using place = await newStore();
  const store = await openStore({ kind: "sqlite", path: place.path });
  const pending = Array.from({ length: 20 }, (_, id) => insert(store, String(id)));

  await store[Symbol.asyncDispose]();

  expect(await Promise.all(pending)).toHaveLength(20);
  await expect(insert(store, "late")).rejects.toMatchObject({
    code: "store_failed",
    message: expect.stringContaining("closed"),
  });
  await store[Symbol.asyncDispose]();
});

test("the audit head can be read beside a running host, and never makes a new store", async () => {
  await using place = await newStore();
  await expect(openAuditWitness({ kind: "sqlite", path: place.path })).rejects.toMatchObject({ code: "store_failed" });
  await using store = await openStore({ kind: "sqlite", path: place.path });
  await using witness = await openAuditWitness({ kind: "sqlite", path: place.path });
  expect([await witness.head(), await witness.signed()]).toEqual([undefined, undefined]);

  await store.audit.append([{ seq: 1, hash: "h", type: "host-start", group: undefined, file: "f" }]);

  await store.audit.willSign(1);

  expect([await witness.head(), await witness.signed()]).toEqual([{ seq: 1, hash: "h" }, 1]);
});

test("no question to the store reads a whole table that grows with time", async () => {
  await using place = await newStore();
  const statements = new Set<string>();
  await using store = await openSqliteStore({ path: place.path, onQuery: (statement) => statements.add(statement) });
  statements.clear();
  const { session } = await runningTurn(store);
  await store.messages.after(inChat("family"), 0, 10);
  await store.messages.countAfter(inChat("family"), 0);
  await store.messages.waiting(inChat("family"), 10);
  await store.messages.waitingCount(inChat("family"));
  await store.messages.waitingGroups();
  await store.messages.ofTurn("t");
  await store.messages.waitingTotal(10);
  await store.messages.waitingByGroup();
  await store.messages.isKnown(say("m-t"));
  await store.messages.requeue("t");
  await store.messages.insert(say("m-t"), placed);
  await store.chats.list();
  const command = await insertCommand(store, "new", "new");
  await store.commands.pending();
  await store.commands.pending(inChat("family"));
  await store.commands.carryOut(command, { ...stopping, stops: false, renews: [session] });
  await store.turns.history(session, 1, 0);
  await store.turns.steps("t");
  await store.turns.lastStep("t");
  await store.sessions.open("agent:terminal:chat", "family");
  await store.outbox.ofTurn("t");
  await store.turns.running();
  await store.turns.runningIn(session);
  await store.work.add({ ...due, session }, 1);
  await store.work.get("w");
  await store.work.idsBeginningWith("w", 5);
  await store.turns.idsBeginningWith("t", 5);
  await store.work.due(session, 1);
  await store.work.dueSessions(1);
  await store.work.nextDueAt(1);
  await store.work.list({ limit: 10, group: "family" });
  await store.work.requeue("t");
  await store.leases.claim(session, { owner: "x", now: 1, ttlMs: 1 });
  await store.turns.list({ limit: 10 });
  await store.turns.outlines(["t"]);
  await store.turns.list({ group: "family", limit: 10 });
  await store.commands.giveUpOld(inChat("family"), { ...stopping, before: 1 });
  await store.turns.finish("t", { ...finished, outgoing: [draft("x")] });
  await store.commands.giveUpOld(inChat("family"), { ...stopping, before: 100 });
  await store.commands.carryOut(await insertCommand(store, "stop", "stop"), stopping);
  await store.probe(1);
  await store.outbox.unsent(10);
  await store.outbox.setState(1, "sending", 1);
  await store.outbox.ofChannel("terminal", 0, 10);
  await store.outbox.own("terminal", "chat", "1");
  await store.outbox.counts();
  await store.outbox.withFiles(1);
  await store.commands.giveUpLate(inChat("family"), stopping);
  await store.chats.get("terminal", "chat");
  await store.groups.folder("family");
  await store.groups.earlierChat(inChat("family"));
  await store.groups.noteInstructions("family", "AGENTS.md", {
    sha256: "",
    bytes: 0,
    origins: [],
    changedAt: undefined,
  });
  await store.audit.signed();
  await store.requests.open(request, { limits: { open: 1, openOfSender: 1, perHour: 1, lifetimeMs: 1 }, outgoing: [] });
  await store.requests.get("CODE");
  await store.requests.waiting(1);
  await store.chats.members("family");
  await store.requests.pairings();
  await store.requests.noteTry({ place: "fake:home", message: 1, at: 1 });
  await store.requests.tries("fake:home");
  await store.requests.forgetTries("fake:home");
  await store.requests.forget("terminal", "chat");
  await store.usage.ofDay("2026-01-15");
  await store.usage.settle(1, { model: "m", turn: undefined, inputTokens: 1, outputTokens: 0, usd: 1 });
  await store.audit.head();
  using database = closing(new SQLite(place.path, { readonly: true }));

  const plans = [...statements]
    .filter((statement) => /^(select|update|delete)/.test(statement))
    .map((statement) => {
      const values = Array.from({ length: statement.split("?").length - 1 }, () => 1);
      const steps = database.it.prepare(`explain query plan ${statement}`).all(...values);
      return { statement, steps: steps.map((row) => (row as { detail: string }).detail) };
    });

  expect(plans.length).toBeGreaterThan(25);
  // Walks that end at a limit, and walks along an index or a table that holds only the few rows in question ("counted"
  // and "waiting" are such walks). Counting the outbox is the one that grows, along a small index.
  expect(plans.flatMap(({ steps }) => steps.filter((line) => line.startsWith("SCAN")))).toEqual([
    "SCAN json_each VIRTUAL TABLE INDEX 1:",
    "SCAN counted",
    "SCAN json_each VIRTUAL TABLE INDEX 1:",
    "SCAN json_each VIRTUAL TABLE INDEX 1:",
    "SCAN messages USING COVERING INDEX messages_waiting",
    "SCAN messages USING COVERING INDEX messages_waiting",
    "SCAN counted",
    "SCAN messages USING COVERING INDEX messages_waiting",
    "SCAN waiting",
    "SCAN chats USING INDEX chats_by_last_seen",
    "SCAN commands",
    "SCAN turns USING INDEX turns_running",
    // Along work that is due.
    "SCAN work USING COVERING INDEX work_due_by_session",
    "SCAN turns",
    // Of the turns that were asked for.
    "SCAN json_each VIRTUAL TABLE INDEX 1:",
    "SCAN json_each VIRTUAL TABLE INDEX 1:",
    "SCAN json_each VIRTUAL TABLE INDEX 1:",
    "SCAN outbox USING COVERING INDEX outbox_by_state",
    // There are as many as somebody has denied, and a few more.
    "SCAN chat_requests",
    "SCAN chat_requests",
    "SCAN chat_requests",
    "SCAN audit_records",
  ]);
});

const due = {
  id: "w",
  group: "family",
  cause: "api",
  dueAt: 1,
  dedupe: "api:w",
  replyTo: { kind: "nowhere" },
  origin: "owner",
  lineage: ofMember,
  text: "",
} as const;
const who = { channel: "terminal", chat: "chat", title: "T", sender: { id: "x", name: "X" } };
const request = { kind: "pairing", code: "CODE", ...who, at: 1 } as const;

function closing(it: SQLite.Database): { it: SQLite.Database } & Disposable {
  return { it, [Symbol.dispose]: () => it.close() };
}
