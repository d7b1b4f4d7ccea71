import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { GroupMemory } from "../../../../src/abilities/memory/group-memory.ts";
import { LetterEmbedder } from "../../../support/letter-embedder.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const weights = { vector: 0.5, text: 0.5, neighbour: 0.3 };

/** Something that can be done to a memory; `id` is one of eight. */
type Step =
  | { readonly does: "add" | "forget"; readonly id: number }
  | { readonly does: "supersede"; readonly id: number; readonly by: number }
  | { readonly does: "reindex" | "flush" };

const id = fc.nat({ max: 7 });
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ does: fc.constant("add" as const), id }) },
    { weight: 3, arbitrary: fc.record({ does: fc.constant("forget" as const), id }) },
    fc.record({ does: fc.constant("supersede" as const), id, by: id }),
    fc.record({ does: fc.constantFrom("reindex" as const, "flush" as const) }),
  ),
  { minLength: 2, maxLength: 12 },
);

/** No other text has it, so its bytes tell whose they are. Each addition of an id says something new. */
function wordOf(number: number, times: number): string {
  return `zq${number}x${times}y`;
}

async function bytesOf(folder: string): Promise<Buffer> {
  return Buffer.concat(await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name)))));
}

test("after anything that can be done to a memory, what is there is found before and after it has its vector, and what is not is in no byte of its files", async () => {
  await using folder = await temporaryFolder();
  let group = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const name = join(folder.path, `group-${(group += 1)}`);
      const embedder = new LetterEmbedder();
      await using memory = new GroupMemory({ path: join(name, "memory.sqlite"), weights, embedder });
      const living = new Map<string, string>();
      const hidden = new Set<string>();
      const dead = new Set<string>();
      const retire = (of: string): void => {
        const word = living.get(of);
        if (word !== undefined) dead.add(word);
        living.delete(of);
        hidden.delete(of);
      };
      for (const [times, step] of sequence.entries()) {
        if (step.does === "add") {
          const word = wordOf(step.id, times);
          retire(`m${step.id}`);
          living.set(`m${step.id}`, word);
          const said = { category: "conversation", origin: "member", sources: [], sender: word } as const;
          memory.add([{ ...said, id: `m${step.id}`, text: `it is ${word}`, time: times * 86_400_000 }]);
        } else if (step.does === "forget") {
          retire(`m${step.id}`);
          memory.forget([`m${step.id}`]);
        } else if (step.does === "supersede") {
          if (memory.supersede(`m${step.id}`, `m${step.by}`)) hidden.add(`m${step.id}`);
        } else if (step.does === "reindex") await memory.reindex();
        else await memory.flush();
        for (const [known, word] of living)
          expect((await memory.search(word, { limit: 1 }))[0]?.memory.id === known).toBe(!hidden.has(known));
      }
      await memory[Symbol.asyncDispose]();
      const bytes = await bytesOf(name);
      for (const word of dead) expect(bytes.includes(word)).toBe(false);
      for (const word of living.values()) expect(bytes.includes(word)).toBe(true);
    }),
    { numRuns: 30 },
  );
});

test("no query, filter or id of one group reaches a text of another", async () => {
  await using folder = await temporaryFolder();
  const groups = ["family", "work", "club"].map((name) => ({
    name,
    memory: new GroupMemory({ path: join(folder.path, `${name}.sqlite`), weights, embedder: new LetterEmbedder() }),
  }));
  try {
    for (const { name, memory } of groups) {
      const said = { category: "conversation", sender: name, origin: "member", sources: [] } as const;
      memory.add(
        ["tea and cake", "the red boat", "茶と猫"].map((text, at) => ({
          ...said,
          id: `${name}-${at}`,
          text: `${text} of ${name}`,
          time: at,
        })),
      );
      await memory.flush();
    }
    const query = fc.oneof(
      fc.string(),
      fc.constantFrom(
        "tea",
        "family work club",
        'work" OR "family',
        "terms:work",
        "NEAR(tea cake)",
        "*",
        "茶",
        "family-0",
      ),
    );
    const filter = fc.record({
      limit: fc.integer({ min: 1, max: 100 }),
      who: fc.option(fc.constantFrom("family", "work", "club"), { nil: undefined }),
      since: fc.option(fc.integer({ min: -10, max: 10 }), { nil: undefined }),
      until: fc.option(fc.integer({ min: -10, max: 10 }), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(query, filter, async (asked, options) => {
        for (const { name, memory } of groups) {
          const found = (await memory.search(asked, options)).map((one) => one.memory);
          const recalled = (await memory.recall(asked, { ...options, tokens: 1_000 })).map((one) => one.memory);
          for (const one of [...found, ...recalled]) expect(one.id.startsWith(`${name}-`)).toBe(true);
          for (const other of groups) expect(memory.get(`${other.name}-0`) === undefined).toBe(other.name !== name);
        }
      }),
    );
  } finally {
    for (const { memory } of groups) await memory[Symbol.asyncDispose]();
  }
});
