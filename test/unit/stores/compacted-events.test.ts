import { stat } from "node:fs/promises";
import { join } from "node:path";

import SQLite from "better-sqlite3";
import { expect, test } from "vitest";

import { SqliteEvents } from "../../../src/stores/sqlite/records/events.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const bytesEach = 4_000;
const count = 4_000;

async function openEvents(folder: string): Promise<SqliteEvents> {
  const path = join(folder, "events.sqlite");
  const events = new SqliteEvents(new SQLite(path, { timeout: 0 }), path);
  events.prepare();
  return events;
}

function event(text: string) {
  return { type: "host.stopped", session: text, actor: "host", data: {} } as const;
}

test("events are written anew while the process goes on; what is told meanwhile comes after it, in its order", async () => {
  await using folder = await temporaryFolder();
  await using events = await openEvents(folder.path);
  for (let at = 0; at < count; at += 1) await events.append(event("x".repeat(bytesEach)), at);
  await events.prune(count - 100, count);
  let others = 0;
  const ticking = setInterval(() => (others += 1), 1);
  try {
    const compacted = events.compact();
    const told = [events.append(event("one"), count), events.append(event("two"), count)];
    const read = events.after(count, {}, 10);
    await compacted;

    expect(others).toBeGreaterThan(0);
    expect(await Promise.all(told)).toEqual([count + 1, count + 2]);
    expect((await read).events.map(({ session }) => session)).toEqual(["one", "two"]);
  } finally {
    clearInterval(ticking);
  }
  const { size } = await stat(join(folder.path, "events.sqlite"));
  expect(size).toBeLessThan(200 * bytesEach);
});

test("a file that another program reads is left as it is, which is said, and events go on", async () => {
  await using folder = await temporaryFolder();
  await using events = await openEvents(folder.path);
  await events.append(event("one"), 1);
  const reader = new SQLite(join(folder.path, "events.sqlite"));
  try {
    reader.exec("begin; select * from events");
    await expect(events.compact()).rejects.toMatchObject({ code: "store_failed", passing: true });
    expect(await events.append(event("two"), 2)).toBe(2);
  } finally {
    reader.close();
  }
});
