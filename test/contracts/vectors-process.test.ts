import { join } from "node:path";

import { expect, test } from "vitest";

import { GroupMemory } from "../../src/abilities/memory/group-memory.ts";
import { vectorStrategies } from "../../src/abilities/memory/index/vectors/catalog.ts";
import { VectorChoice } from "../../src/abilities/memory/index/vectors/open-vectors.ts";
import { PlainVectors } from "../../src/abilities/memory/index/vectors/plain-vectors.ts";
import type { Vectors, VectorStrategy } from "../../src/abilities/memory/index/vectors/vectors.ts";
import { LetterEmbedder } from "../support/letter-embedder.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testVectors } from "./vectors.ts";
import type { NewMemory, SlowVectors } from "../../src/processes/memory-schemas.ts";

/** A strategy like a server's that returns the nearest ten. */
const nearestTen: VectorStrategy = {
  name: "the nearest ten",
  bytesPerNumber: 0,
  open: (dimensions) => {
    const all = new PlainVectors(dimensions);
    const products = async (query: Float32Array): Promise<Float32Array> => {
      const right = all.products(query);
      const known = [...right.keys()].filter((row) => all.has(row)).map((row) => right[row] ?? 0);
      const least = known.toSorted((one, other) => other - one)[9] ?? -Infinity;
      return Promise.resolve(right.map((value, row) => (all.has(row) ? Math.max(value, least) : 0)));
    };
    return {
      products,
      get known() {
        return all.known;
      },
      get isKnown() {
        return all.isKnown;
      },
      has: (row) => all.has(row),
      set: (row, vector) => all.set(row, vector),
      product: (row, query) => all.product(row, query),
    } satisfies Vectors;
  },
};

for (const strategy of [...vectorStrategies, nearestTen]) testVectors(strategy);

/** The first `rows` go well. */
function failsAfter(rows: number): VectorStrategy {
  return {
    name: `room for ${rows}`,
    bytesPerNumber: 4,
    open: (dimensions) => {
      if (rows === 0) throw new TypeError("WebAssembly is missing");
      const vectors = new PlainVectors(dimensions);
      const set = vectors.set.bind(vectors);
      vectors.set = (row, vector) => {
        if (row >= rows) throw new RangeError("no room");
        set(row, vector);
      };
      return vectors;
    },
  };
}

const said = (text: string): NewMemory => {
  return { id: text, text, category: "core", time: 0, sender: "", origin: "member", sources: [] };
};

test("a strategy that does not work here, or has no room, gives way to the next one, which is told once", async () => {
  await using folder = await temporaryFolder();
  const plain = vectorStrategies.slice(-1);
  const found = async (name: string, strategies: readonly VectorStrategy[]): Promise<[string[], SlowVectors[]]> => {
    const slow: SlowVectors[] = [];
    const embedder = new LetterEmbedder();
    const path = join(folder.path, `${name}.sqlite`);
    const weights = { vector: 1, text: 0, neighbour: 0 };
    await using memory = new GroupMemory({
      path,
      weights,
      embedder,
      strategies,
      onSlow: (told) => void slow.push(told),
    });
    memory.add(["apple", "boat", "cat", "dizzy", "eel"].map(said));
    await memory.flush();
    const ids = (await memory.search("dizzily", { limit: 2 })).map((one) => one.memory.id);
    await memory.search("dizzily", { limit: 2 });
    return [ids, slow];
  };

  const [right] = await found("usual", vectorStrategies);
  expect(right[0]).toBe("dizzy");
  expect(await found("plain", plain)).toEqual([right, []]);
  expect(await found("nearest", [nearestTen])).toEqual([right, []]);
  expect(await found("refused", [failsAfter(0), ...plain])).toEqual([
    right,
    [{ strategy: "one by one", reason: "WebAssembly is missing" }],
  ]);
  expect(await found("full", [failsAfter(0), failsAfter(3), ...plain])).toEqual([
    right,
    [
      { strategy: "room for 3", reason: "WebAssembly is missing" },
      { strategy: "one by one", reason: "no room" },
    ],
  ]);
  expect(() => new VectorChoice(undefined, [failsAfter(0)]).open(2)).toThrow("WebAssembly is missing");
});
