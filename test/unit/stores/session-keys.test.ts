import { join } from "node:path";

import SQLite from "better-sqlite3";
import { expect, test } from "vitest";

import { openStore } from "../../../src/stores/catalog.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { makeOlderStore } from "../../support/older-store.ts";

test("a home of an earlier version keeps the conversation that was used last when the assistant had several names", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "crabpot.sqlite");
  await makeOlderStore(path, "0013-execution-points");
  const database = new SQLite(path);
  for (const [id, key] of [
    ["old", "claw:http:family"],
    ["used", "crab:http:family"],
    ["other", "claw:http:a:b"],
  ]) {
    database.prepare("insert into sessions values (?, ?, 'family', 1, 0, 0, 0, 0)").run(id, key);
  }
  const turn =
    "insert into turns (id, group_name, session, conversation, state, attempts, started_at) values (?, 'family', ?, 1, ?, 1, 5)";
  database.prepare(turn).run("t1", "old", "done");
  database.prepare(turn).run("t2", "used", "running");
  database
    .prepare(
      "insert into messages (group_name, channel, chat, id, sender_id, sender_name, text, state, turn, received_at) values ('family', 'http', 'family', 'm', 'ann', 'Ann', 'x', 'taken', 't2', 5)",
    )
    .run();
  database.close();

  await using store = await openStore({ kind: "sqlite", path });

  expect(await store.sessions.find("main:http:family")).toMatchObject({ id: "used", kind: "main" });
  expect(await store.sessions.find("main:http:a:b")).toMatchObject({ id: "other" });
  expect(
    (await store.sessions.list()).filter(({ archivedAt }) => archivedAt !== undefined).map(({ id }) => id),
  ).toEqual(["old"]);
  expect(await store.turns.runningIn("used")).toMatchObject({
    id: "t2",
    cause: "message",
    replyTo: { kind: "chat", channel: "http", chat: "family" },
  });
});
