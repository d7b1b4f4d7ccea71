import { spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";

import SQLite from "better-sqlite3";
import { expect, test } from "vitest";

import { openStore, openStoreReader } from "../../../src/stores/catalog.ts";
import { insert, runningTurn } from "../../contracts/store-setup.ts";
import { changeStore, makeOlderStore } from "../../support/older-store.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const fixture = resolve(import.meta.dirname, "../../fixtures/stores/dying-migrator.ts");

async function newPath() {
  const folder = await temporaryFolder();
  return { path: join(folder.path, "crabpot.sqlite"), [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

function contentOf(path: string): unknown {
  const database = new SQLite(path, { readonly: true });
  const read = (query: string): unknown => database.prepare(query).all();
  const content = [read("select name, sql from sqlite_schema"), read("select * from kysely_migration")];
  database.close();
  return content;
}

test.each([4, 12, 25, 33])(
  "a host that is killed after %i statements of its first start leaves a store that the next start can use",
  async (statements) => {
    await using home = await newPath();
    const args = [fixture, home.path, String(statements)];

    const [, signal] = (await once(spawn(process.execPath, args), "exit")) as [number | null, NodeJS.Signals | null];
    await using store = await openStore({ path: home.path });

    expect(signal).toBe("SIGKILL");
    expect(await store.turns.running()).toEqual([]);
  },
);

test("a store that lacks the tables of a newer version gets them, and keeps its rows", async () => {
  await using home = await newPath();
  await makeOlderStore(home.path);
  changeStore(home.path, "insert into token_factors values ('m', 2)");

  await using store = await openStore({ path: home.path });
  await runningTurn(store);
  const change = { target: "/work", path: "Makefile", kind: "build", change: "added" } as const;
  await store.executionPoints.add({ group: "family", turn: "t" }, [change], 5);

  expect(await store.executionPoints.ofTurn("t")).toEqual([{ ...change, at: 5 }]);
  expect([...(await store.usage.tokenFactors())]).toEqual([["m", 2]]);
});

test("a migration that fails leaves the store as it was, and works once its cause is gone", async () => {
  await using home = await newPath();
  await makeOlderStore(home.path);
  changeStore(home.path, "create table execution_points (mine text)");
  const before = contentOf(home.path);

  await expect(openStore({ path: home.path })).rejects.toMatchObject({
    code: "store_failed",
    message: expect.stringContaining("execution_points already exists"),
  });

  expect(contentOf(home.path)).toEqual(before);
  changeStore(home.path, "drop table execution_points");
  await using store = await openStore({ path: home.path });
  expect(await insert(store, "1")).toBe(1);
});

test("a store of a development version is refused with what to do, and left as it is", async () => {
  await using home = await newPath();
  await makeOlderStore(home.path);
  changeStore(
    home.path,
    `delete from kysely_migration; insert into kysely_migration values ('0001-initial', ''), ('0002-commands', '')`,
  );
  const before = contentOf(home.path);

  for (const open of [openStore, openStoreReader]) {
    await expect(open({ path: home.path })).rejects.toMatchObject({
      code: "store_failed",
      message: `The store ${home.path} was written by a development version before 0.1.0; this one cannot read it.`,
      fix: "move the home folder away and start again: crabpot makes a new one",
    });
  }

  expect(contentOf(home.path)).toEqual(before);
});
