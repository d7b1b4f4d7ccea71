import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import SQLite from "better-sqlite3";
import { type Arbitrary, array, assert, boolean, integer, nat, property, record } from "fast-check";
import { expect, test } from "vitest";

import {
  checkIndex,
  cleanSome,
  endCleaning,
  noteAnnounced,
  planCleaning,
} from "../../../../src/abilities/memory/file/cleaning.ts";
import { MemoryFile } from "../../../../src/abilities/memory/file/memory-file.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import type { NewMemory } from "../../../../src/processes/memory-schemas.ts";

const dayMs = 86_400_000;
const now = Date.parse("2026-06-01T00:00:00Z");

function cutoffs(days: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(days).map(([category, count]) => [category, now - count * dayMs]));
}

const usual = cutoffs({ conversation: 365, daily: 90 });

function made(id: string, daysAgo: number, more: Partial<NewMemory> = {}): NewMemory {
  const base = { category: "conversation", text: `words of ${id}`, sender: "Ann", origin: "member" } as const;
  return { ...base, id, time: now - daysAgo * dayMs, sources: [`message-${id}`], ...more };
}

function fact(id: string, daysAgo: number, of: readonly string[], category = "core"): NewMemory {
  return made(id, daysAgo, { category, sources: of.map((source) => `message-${source}`) });
}

function clean(file: MemoryFile, before = usual): string[] {
  while (cleanSome(file, before) > 0);
  return [...file.all()].map(({ id }) => id);
}

test("what is too old goes, but for what a living fact was drawn from", async () => {
  await using folder = await temporaryFolder();
  using file = MemoryFile.open(join(folder.path, "office.sqlite"));
  file.put([
    made("old", 366),
    made("young", 364),
    made("source", 400),
    made("source-of-superseded", 400),
    made("source-of-daily", 400),
    made("day-source", 400),
    made("recipe", 4_000, { category: "recipes" }),
    fact("fact-a", 399, ["source", "gone-already"]),
    fact("fact-b", 399, ["source-of-superseded"]),
    fact("fact-c", 91, ["source-of-daily"], "daily"),
    fact("fact-d", 89, ["young"], "daily"),
    fact("day-2025-05-01", 30, ["day-source"], "daily"),
  ]);
  file.supersede("fact-b", "fact-a");

  expect(planCleaning(file, now, usual)).toMatchObject({
    run: now,
    categories: { conversation: 4, daily: 1 },
    superseded: 0,
  });
  expect(clean(file)).toEqual(["young", "source", "recipe", "fact-a", "fact-b", "fact-d", "day-2025-05-01"]);

  file.remove(["fact-a"]);
  expect(clean(file)).not.toContain("source");
});

test("the bytes of what went are in no file of the memory", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "office.sqlite");
  using file = MemoryFile.open(path);
  file.put([made("old", 366, { text: "the zeppelin lands" }), made("young", 1, { text: "the kayak floats" })]);

  clean(file);

  const bytes = readdirSync(dirname(path)).map((name) => readFileSync(join(dirname(path), name)).toString("latin1"));
  expect(bytes.join()).not.toMatch(/zeppelin/);
  expect(bytes.join()).toMatch(/kayak/);
});

test("of what others took the place of, the newest thousand stay, and none has a vector", async () => {
  await using folder = await temporaryFolder();
  using file = MemoryFile.open(join(folder.path, "office.sqlite"));
  const facts = Array.from({ length: 1_250 }, (_, at) => fact(`fact-${at}`, 2_000 - at, []));
  file.put([...facts, fact("fact-now", 0, [])]);
  for (const { id } of facts) file.supersede(id, "fact-now");
  file.setVectors(
    "letters",
    file.unembedded("letters", 0, 2_000).map((one) => [one, new Float32Array([1, 0])]),
  );

  expect(planCleaning(file, now, usual).superseded).toBe(250);
  const left = clean(file);

  expect([left.length, left[0], left.at(-1)]).toEqual([1_001, "fact-250", "fact-now"]);
  expect(file.counts("letters")).toEqual({ items: 1_001, superseded: 1_000, embedded: 1 });
  expect(file.unembedded("letters", 0, 10)).toEqual([]);
});

test("a cleaning that was interrupted goes on as the one that it was", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "office.sqlite");
  {
    using file = MemoryFile.open(path);
    file.put([made("old", 366)]);
    expect(planCleaning(file, now, usual)).toMatchObject({ run: now, isAnnounced: false });
    noteAnnounced(file);
  }
  using file = MemoryFile.open(path);
  expect(planCleaning(file, now + 5, usual)).toMatchObject({ run: now, isAnnounced: true });
  endCleaning(file, now + 9);
  expect(file.progress().cleaned).toBe(now + 9);
  expect(planCleaning(file, now + 10, usual)).toMatchObject({ run: now + 10, isAnnounced: false });
});

test("an index with rows of nobody, or without some, is made anew", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "office.sqlite");
  using file = MemoryFile.open(path);
  file.put([made("one", 1, { text: "zeppelin" }), made("two", 1, { text: "kayak" }), made("three", 1)]);
  expect(checkIndex(file, 0)).toEqual({ next: undefined, isRewritten: false });

  using raw = new Connection(path);
  raw.run("insert into keywords (keywords, rowid, terms) values ('delete', 2, 'ann kayak')");
  raw.run("insert into keywords (rowid, terms) values (77, 'zeppelin')");
  expect(checkIndex(file, 0)).toEqual({ next: undefined, isRewritten: true });
  expect(raw.count("select count(*) from keywords where keywords match 'kayak'")).toBe(1);
  expect(raw.count("select count(*) from keywords_docsize")).toBe(3);
  expect(checkIndex(file, 0).isRewritten).toBe(false);
});

test("whatever there is, every fact that stays keeps the words that were there for it, and nothing young goes", async () => {
  await using folder = await temporaryFolder();
  let count = 0;
  assert(
    property(memories, (given) => {
      using file = MemoryFile.open(join(folder.path, `${(count += 1)}.sqlite`));
      const { all, living, superseded } = toMemories(given);
      file.put(all);
      for (const { id } of superseded) file.supersede(id, "fact-x");
      const { categories } = planCleaning(file, now, usual);

      const left = new Set(clean(file));

      const sources = living.filter(({ id }) => left.has(id)).flatMap((one) => one.sources);
      const young = all.filter(({ category, time }) => time >= (usual[category] ?? 0));
      const missing = [...sources.map((source) => source.replace("message-", "")), ...young.map(({ id }) => id)];
      expect(missing.filter((id) => !left.has(id))).toEqual([]);
      const told = Object.values(categories).reduce((sum, some) => sum + some, 0);
      expect(all.length - left.size).toBe(told);
    }),
    { numRuns: 60 },
  );
});

const ages = integer({ min: 0, max: 800 });
const memories = record({
  said: array(ages, { minLength: 1, maxLength: 12 }),
  facts: array(
    record({ age: ages, of: array(nat(11), { minLength: 1, maxLength: 3 }), isDaily: boolean(), isOver: boolean() }),
    { maxLength: 8 },
  ),
});

function toMemories({ said, facts }: typeof memories extends Arbitrary<infer Given> ? Given : never) {
  const words = said.map((age, at) => made(`said-${at}`, age));
  const drawn = facts.map(({ age, of, isDaily, isOver }, at) => ({
    isOver,
    fact: fact(
      `fact-${at}`,
      age,
      of.map((one) => `said-${one % said.length}`),
      isDaily ? "daily" : "core",
    ),
  }));
  return {
    all: [...words, ...drawn.map((one) => one.fact)],
    living: drawn.filter(({ isOver }) => !isOver).map((one) => one.fact),
    superseded: drawn.filter(({ isOver }) => isOver).map((one) => one.fact),
  };
}

/** Beside the file's own, as damage would come. */
class Connection implements Disposable {
  readonly #database: SQLite.Database;

  constructor(path: string) {
    this.#database = new SQLite(path);
  }

  run(text: string): void {
    this.#database.prepare(text).run();
  }

  count(text: string): unknown {
    return this.#database.prepare(text).pluck().get();
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}
