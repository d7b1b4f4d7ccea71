import { readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import type { StoreReader } from "../../src/stores/define-store.ts";
import type { Store } from "../../src/stores/contract/store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { byMessage, draft, inChat, insert, type OpenStore, restartableStore, step } from "./store-setup.ts";
import { ofMember } from "../support/lineages.ts";

export type OpenStoreReader = (path: string) => Promise<StoreReader>;

/** Something in every table that a reader shows. */
async function fill(store: Store): Promise<void> {
  await store.groups.claimFolder(inChat("family"));
  await store.chats.seen({ channel: "terminal", chat: "chat", group: "family", at: 5 });
  const session = await store.sessions.open("agent:terminal:chat", "family");
  const seq = await insert(store, "one");
  const turn = { id: "t", session: session.id, group: "family", conversation: 1, ...byMessage, at: 20 };
  await store.turns.begin(turn, step("hello", { messages: [seq], cursor: seq, lineage: ofMember }));
  await store.outbox.add(draft("hi", { turn: "t" }), 30);
  await insert(store, "two");
}

async function everything(reader: Omit<StoreReader, typeof Symbol.asyncDispose>): Promise<unknown> {
  return {
    ofTurn: await reader.messages.ofTurn("t"),
    withSeqs: await reader.messages.withSeqs([1]),
    members: await reader.chats.allMembers(),
    waiting: await reader.messages.waitingByGroup(),
    groups: [await reader.groups.list(), await reader.groups.folders(), await reader.groups.folder("family")],
    chats: [await reader.chats.list(), await reader.chats.get("terminal", "chat")],
    sessions: await reader.sessions.list(),
    turns: [await reader.turns.list({ limit: 5 }), await reader.turns.get("t"), await reader.turns.steps("t")],
    work: await reader.work.list({ limit: 5 }),
    outbox: [await reader.outbox.list({ limit: 5 }), await reader.outbox.ofTurn("t")],
    executionPoints: await reader.executionPoints.ofTurn("t"),
  };
}

/** Names, sizes and times of the files beside the store. */
async function filesOf(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).toSorted();
  return Promise.all(
    names.map(async (name) => {
      const { size, mtimeMs, ctimeMs } = await stat(join(folder, name));
      return `${name} ${size} ${mtimeMs} ${ctimeMs}`;
    }),
  );
}

/** A reader shows what a host has left, and what it leaves alone shows as well. */
export function testReader(open: OpenStore, openReader: OpenStoreReader): void {
  test("what was stored is read as the store itself has it, and no file is made or changed", async () => {
    await using home = await restartableStore(open);
    await fill(home.store);
    const expected = await everything(home.store);
    await home.store[Symbol.asyncDispose]();
    const folder = dirname(home.path);
    const before = await filesOf(folder);

    const reader = await openReader(home.path);
    const found = await everything(reader);
    const during = await filesOf(folder);
    await reader[Symbol.asyncDispose]();

    expect(found).toEqual(expected);
    expect(during).toEqual(before);
    expect(await filesOf(folder)).toEqual(before);
  });

  test("what a host that still runs, or was killed, has written last is read as well", async () => {
    await using home = await restartableStore(open);
    await fill(home.store);

    await using reader = await openReader(home.path);

    expect(await everything(reader)).toEqual(await everything(home.store));
  });

  test("where there is no store, none is made", async () => {
    await using folder = await temporaryFolder();

    await expect(openReader(join(folder.path, "store"))).rejects.toMatchObject({ code: "store_failed" });

    expect(await readdir(folder.path)).toEqual([]);
  });
}
