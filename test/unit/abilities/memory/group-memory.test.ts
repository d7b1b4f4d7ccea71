import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import SQLite from "better-sqlite3";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { AppError } from "../../../../src/lib/app-error.ts";
import { IdleGate } from "../../../../src/lib/time/idle-gate.ts";
import { GroupMemory, type GroupMemoryOptions } from "../../../../src/abilities/memory/group-memory.ts";
import { LetterEmbedder } from "../../../support/letter-embedder.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import type { NewMemory } from "../../../../src/processes/memory-schemas.ts";

const weights = { vector: 0.5, text: 0.5, neighbour: 0.3 };
const hour = 3_600_000;
const day = 24 * hour;

function said(id: string, text: string, rest: Partial<NewMemory> = {}): NewMemory {
  return { id, text, category: "conversation", time: 0, sender: "Ann", origin: "member", sources: [], ...rest };
}

function open(folder: string, options: Partial<GroupMemoryOptions> & { readonly name?: string } = {}): GroupMemory {
  const { name = "family", ...rest } = options;
  return new GroupMemory({ path: join(folder, `${name}.sqlite`), weights, ...rest });
}

async function ids(memory: GroupMemory, query: string, rest: object = {}): Promise<string[]> {
  return (await memory.search(query, { limit: 10, ...rest })).map((found) => found.memory.id);
}

const isSaid = ({ id }: { readonly id: string }): boolean => id.startsWith("said-");

test("what was said is found by its words, the best first, with what was said beside it", async () => {
  await using folder = await temporaryFolder();
  await using memory = open(folder.path);
  memory.add([
    said("1", "We flew kites on the beach", { time: 0 }),
    said("2", "Which beach was that?", { time: 1000, sender: "Bob" }),
    said("3", "Quarterly budgets are due", { time: 5 * day }),
  ]);

  expect(await ids(memory, "flying a kite at the beach")).toEqual(["1", "2"]);
  expect(await ids(memory, "budget")).toEqual(["3"]);
  expect(await ids(memory, "nothing of this")).toEqual([]);
  expect(await ids(memory, "January 1970")).toEqual(["2", "1", "3"]);
});

test("filters look at the time and at who said it, in any case of letters", async () => {
  await using folder = await temporaryFolder();
  await using memory = open(folder.path);
  memory.add([
    said("1", "tea", { time: 1 * day }),
    said("2", "tea", { time: 2 * day, sender: "Bob" }),
    said("3", "tea", { time: 3 * day }),
  ]);

  expect(await ids(memory, "tea", { who: "bob" })).toEqual(["2"]);
  expect(await ids(memory, "tea", { since: 2 * day })).toEqual(["3", "2"]);
  expect(await ids(memory, "tea", { until: 2 * day })).toEqual(["1"]);
  expect(await ids(memory, "tea", { limit: 1 })).toEqual(["3"]);
});

test("of equals the newer one comes first, however they were added", async () => {
  await using folder = await temporaryFolder();
  await using memory = open(folder.path);
  memory.add([said("new", "tea", { time: 9 * day }), said("old", "tea", { time: 1 * day })]);

  expect(await ids(memory, "tea")).toEqual(["new", "old"]);
});

test("a memory that was superseded is kept and no longer found", async () => {
  await using folder = await temporaryFolder();
  await using memory = open(folder.path);
  memory.add([said("old", "Ann lives in Rome"), said("new", "Ann lives in Oslo", { time: day })]);
  memory.supersede("old", "new");

  expect(await ids(memory, "Rome lives")).toEqual(["new"]);
  expect(memory.list({ limit: 10 }).map(({ id, supersededBy }) => [id, supersededBy])).toEqual([
    ["new", undefined],
    ["old", "new"],
  ]);
});

test("search is right before, while and after memories get their vectors", async () => {
  await using folder = await temporaryFolder();
  const embedder = new LetterEmbedder();
  const gate = Promise.withResolvers<void>();
  embedder.gate = gate.promise;
  await using memory = open(folder.path, { embedder });
  memory.add([said("1", "the red bicycle"), said("2", "a green boat", { time: 9 * day })]);

  expect((await ids(memory, "bicycle"))[0]).toBe("1");
  expect(memory.stats().embedded).toBe(0);
  gate.resolve();
  await memory.flush();
  const secondGate = Promise.withResolvers<void>();
  embedder.gate = secondGate.promise;
  memory.add([said("3", "the yellow submarine", { time: 20 * day })]);
  expect((await ids(memory, "submarine"))[0]).toBe("3");
  expect((await ids(memory, "bicycle"))[0]).toBe("1");
  expect(memory.stats().embedded).toBe(2);
  secondGate.resolve();
  await memory.flush();
  expect((await ids(memory, "submarine"))[0]).toBe("3");
  // No word of it is the same.
  expect((await ids(memory, "bicycles-redbicycl"))[0]).toBe("1");
});

test("a query whose vector does not come is answered by words", async () => {
  await using folder = await temporaryFolder();
  const embedder = new LetterEmbedder();
  await using memory = open(folder.path, { embedder, queryMs: 20 });
  memory.add([said("1", "the red bicycle")]);
  await memory.flush();
  const gate = Promise.withResolvers<void>();
  embedder.gate = gate.promise;

  expect(await ids(memory, "Who said: bicycle")).toEqual(["1"]);
  gate.resolve();
});

test("while queries come, no vectors of memories are made; what was added meanwhile has its vector after them", async () => {
  await using folder = await temporaryFolder();
  const embedder = new LetterEmbedder();
  const lull = new IdleGate({ quietMs: 50, longestMs: 60_000 });
  await using memory = open(folder.path, { embedder, lull });
  memory.add([said("1", "the red bicycle")]);
  await memory.flush();
  await memory.foresee("bicycle");
  memory.add([said("2", "a blue boat")]);
  const before = memory.stats().embedded;
  expect(await ids(memory, "a boat")).toContain("2");
  await memory.flush();

  expect([before, memory.stats().embedded]).toEqual([1, 2]);
  expect(embedder.asked).toEqual(["Ann: the red bicycle", "bicycle", "a boat", "Ann: a blue boat"]);
});

test("vectors that another process made count for the next query that is foreseen", async () => {
  await using folder = await temporaryFolder();
  const embedder = new LetterEmbedder();
  await using memory = open(folder.path, { embedder });
  expect(await ids(memory, "bicycle")).toEqual([]);
  {
    await using other = open(folder.path, { embedder });
    other.add([said("1", "the red bicycle")]);
    await other.flush();
  }
  embedder.asked.length = 0;
  await memory.foresee("red");

  expect(embedder.asked).toEqual(["red"]);
});

test("what was foreseen is embedded once, and what is in sight does not take the place of the rest", async () => {
  await using folder = await temporaryFolder();
  const embedder = new LetterEmbedder();
  await using memory = open(folder.path, { embedder });
  memory.add(Array.from({ length: 300 }, (_, at) => said(`said-${at}`, "the red bicycle", { time: at * 1000 })));
  memory.add([said("other", "a red boat", { time: 9 * day })]);
  await memory.flush();
  embedder.asked.length = 0;
  const foreseen = memory.foresee("red bicycle");
  const recalled = await memory.recall("red bicycle", { limit: 5, tokens: 500, isInSight: isSaid });
  await foreseen;

  expect(recalled.map((one) => one.memory.id)).toEqual(["other"]);
  expect(embedder.asked).toEqual(["red bicycle"]);
});

test("for any memories, one that is asked for by all of its words is found, whether it has a vector yet or not", async () => {
  await using folder = await temporaryFolder();
  const words = fc.array(fc.constantFrom("tea", "boat", "kite", "rome", "snow", "piano"), {
    minLength: 1,
    maxLength: 4,
  });
  let file = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(words, { minLength: 1, maxLength: 8 }), fc.nat({ max: 8 }), async (texts, embedded) => {
      const embedder = new LetterEmbedder();
      const name = `g${(file += 1)}`;
      const memories = texts.map((text, at) => said(String(at), text.join(" "), { time: at * day }));
      {
        await using first = open(folder.path, { name, embedder });
        first.add(memories.slice(0, embedded));
        await first.flush();
      }
      await using memory = open(folder.path, { name });
      memory.add(memories.slice(embedded));
      for (const { id, text } of memories) expect(await ids(memory, text)).toContain(id);
    }),
    { numRuns: 25 },
  );
});

test("no query reaches what another group remembers", async () => {
  await using folder = await temporaryFolder();
  const embedder = new LetterEmbedder();
  await using family = open(folder.path, { embedder });
  await using work = open(folder.path, { name: "work", embedder });
  family.add([said("f", "the secret is a parrot")]);
  work.add([said("w", "the budget is a number")]);
  await Promise.all([family.flush(), work.flush()]);

  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.string(), fc.constantFrom("secret parrot", 'f" OR "', "* NEAR(", "f")),
      async (query) => {
        expect(await ids(work, query)).not.toContain("f");
        expect(await ids(family, query)).not.toContain("w");
      },
    ),
  );
  expect(work.get("f")).toBeUndefined();
});

test("what is forgotten is in none of the files, not even beside a running host", async () => {
  await using folder = await temporaryFolder();
  const embedder = new LetterEmbedder();
  await using memory = open(folder.path, { embedder });
  await using other = open(folder.path, { embedder });
  memory.add([said("x", "xylophone zeppelin", { sender: "Quirin" }), said("y", "something else")]);
  await memory.flush();
  const vector = (await embedder.embed(["Quirin: xylophone zeppelin"]))[0] ?? new Float32Array();
  const trace = Buffer.from(vector.buffer);
  const traces = [Buffer.from("xylophone"), Buffer.from("xylophon"), Buffer.from("Quirin"), trace];
  expect(await ids(other, "xylophone")).toContain("x");
  expect((await bytesOf(folder.path)).some((bytes) => traces.some((one) => bytes.includes(one)))).toBe(true);

  expect(memory.forget(["x"])).toBe(1);

  for (const bytes of await bytesOf(folder.path)) for (const one of traces) expect(bytes.includes(one)).toBe(false);
  expect(await ids(memory, "xylophone")).toEqual([]);
  expect(await ids(other, "xylophone")).not.toContain("x");
});

async function bytesOf(folder: string): Promise<Buffer[]> {
  return Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name))));
}

test("a known id replaces: the old words are gone, the new ones are found, also by another process", async () => {
  await using folder = await temporaryFolder();
  const embedder = new LetterEmbedder();
  await using memory = open(folder.path, { embedder });
  await using other = open(folder.path, { embedder });
  memory.add([said("1", "kitten")]);
  await memory.flush();
  expect(await ids(other, "kitten")).toEqual(["1"]);
  memory.add([said("1", "puppy"), said("2", "parrot", { time: day })]);
  await memory.flush();

  expect((await other.search("puppy", { limit: 1 }))[0]?.memory.text).toBe("puppy");
  expect((await other.search("parrot", { limit: 1 }))[0]?.memory.id).toBe("2");
  expect(memory.list({ limit: 10 })).toHaveLength(2);
  expect(memory.stats().embedded).toBe(2);
});

test("memories that are too old for the index in memory are found by their words", async () => {
  await using folder = await temporaryFolder();
  await using memory = open(folder.path, { hotRows: 10 });
  memory.add([said("old", "the first xylophone")]);
  memory.add(Array.from({ length: 50 }, (_, at) => said(`n${at}`, `ordinary talk ${at}`, { time: (at + 1) * day })));

  expect((await ids(memory, "xylophone"))[0]).toBe("old");
  expect(await ids(memory, "xylophone", { who: "Bob" })).toEqual([]);
});

test("of a word that nearly everything holds only the newest older memories are looked at, and of a rare one all", async () => {
  await using folder = await temporaryFolder();
  await using memory = open(folder.path, { hotRows: 10 });
  memory.add(
    Array.from({ length: 1_000 }, (_, at) =>
      said(`t${at}`, at % 100 === 0 ? `tea with zeppelin ${at}` : "tea", { time: at * day }),
    ),
  );
  const found = await ids(memory, "tea zeppelin", { limit: 500 });

  expect(found).toHaveLength(10 + 100 + 9);
  expect(found).toEqual(expect.arrayContaining(Array.from({ length: 10 }, (_, at) => `t${at * 100}`)));
});

test("what an earlier process has left without a vector gets one, and what was embedded is not embedded again", async () => {
  await using folder = await temporaryFolder();
  const embedder = new LetterEmbedder();
  {
    await using words = open(folder.path);
    words.add([said("1", "red"), said("2", "red"), said("3", "blue")]);
  }
  await using memory = open(folder.path, { embedder });
  await memory.flush();
  expect(memory.stats()).toMatchObject({ items: 3, embedded: 3 });
  await memory.reindex();

  expect(memory.stats().embedded).toBe(3);
  expect(new Set(embedder.asked)).toEqual(new Set(["Ann: red", "Ann: blue"]));
  expect(embedder.asked).toHaveLength(3);
});

test("another model makes its own vectors, and while it does not work memories are found by their words", async () => {
  await using folder = await temporaryFolder();
  {
    await using first = open(folder.path, { embedder: new LetterEmbedder() });
    first.add([said("1", "red bicycle")]);
    await first.flush();
  }
  const embedder = new LetterEmbedder({ model: "other" });
  embedder.fault = new AppError("model_unavailable", "The model is away.");
  await using memory = open(folder.path, { embedder });

  await expect(memory.flush()).rejects.toThrow("The model is away.");
  expect(memory.stats().embedded).toBe(0);
  expect(await ids(memory, "bicycle")).toEqual(["1"]);
  embedder.fault = undefined;
  await memory.flush();
  expect(memory.stats().embedded).toBe(1);
});

test("a model for English decides little about Chinese", async () => {
  await using folder = await temporaryFolder();
  const embedder = new LetterEmbedder({ isEnglish: true });
  await using memory = open(folder.path, { embedder });
  memory.add([said("1", "我喜欢喝茶"), said("2", "会议在星期四", { time: 9 * day })]);
  await memory.flush();
  const [best] = await memory.search("喝茶", { limit: 1 });

  expect(best?.memory.id).toBe("1");
  // Its words alone give 0.8 of 1.
  expect(best?.score).toBeGreaterThanOrEqual(0.8);
});

test("recall gives the best with what was said beside them, in the order of time, within the budget", async () => {
  await using folder = await temporaryFolder();
  await using memory = open(folder.path);
  memory.add(
    Array.from({ length: 20 }, (_, at) =>
      said(`m${at}`, at === 10 ? "a xylophone" : `talk ${at}`, { time: at * 1000 }),
    ),
  );
  const options = { limit: 1, tokens: 60 };

  expect((await memory.recall("xylophone", options)).map((one) => [one.memory.id, one.isHit])).toEqual([
    ["m9", false],
    ["m10", true],
    ["m11", false],
  ]);
  expect((await memory.recall("xylophone", { ...options, tokens: 1 })).map((one) => one.memory.id)).toEqual(["m10"]);
});

test("the database of another program is left alone", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "family.sqlite");
  const other = new SQLite(path);
  other.exec("create table theirs (x)");
  other.close();

  expect(() => open(folder.path)).toThrow("another program");
});

test.each([
  [{ text: "  " }, "is empty"],
  [{ category: "Big One" }, "cannot be a category"],
  [{ time: Number.NaN }, "no valid time"],
  [{ text: "x".repeat(1024 * 1024 + 1) }, "are allowed"],
  [{ id: "" }, "An id has"],
])("%j is refused, and nothing of what came with it is kept", async (wrong, why) => {
  await using folder = await temporaryFolder();
  await using memory = open(folder.path);

  expect(() => memory.add([said("ok", "fine"), said("1", "text", wrong)])).toThrow(why);
  expect(memory.list({ limit: 10 })).toEqual([]);
});
