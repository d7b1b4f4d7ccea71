import { join } from "node:path";

import { GroupMemory } from "../../src/memory/group-memory.ts";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import type { BenchContext } from "../harness/bench.ts";
import { type Figure, figureOf } from "../harness/figure.ts";
import { madeUpEmbedder, madeUpMemories, queryOf, weights } from "./made-up-memories.ts";

const atOnce = 1_000;

/** Searches in a group that remembers much. Vectors are made up, so no query waits for a model. */
export async function memory({ quick }: BenchContext): Promise<Figure[]> {
  const sizes: readonly (readonly [number, number])[] = quick
    ? [[10_000, 5]]
    : [
        [10_000, 5],
        [100_000, 25],
      ];
  const figures: Figure[] = [];
  for (const [items, limitMs] of sizes) {
    const { first, values, rssMb } = await measure(items);
    const target = { text: `p95 ≤ ${limitMs} ms`, holds: ({ p95 }: { readonly p95: number }) => p95 <= limitMs };
    figures.push(
      figureOf({ bench: "memory", figure: `search in ${items} memories`, unit: "ms", values, target }),
      figureOf({ bench: "memory", figure: `first search in ${items}`, unit: "ms", values: [first] }),
      figureOf({ bench: "memory", figure: `process with ${items}`, unit: "MB", values: [rssMb] }),
    );
  }
  return figures;
}

async function measure(items: number): Promise<{ first: number; values: number[]; rssMb: number }> {
  await using folder = await temporaryFolder();
  await using group = new GroupMemory({ path: join(folder.path, "group.sqlite"), weights, embedder: madeUpEmbedder });
  for (let at = 0; at < items; at += atOnce) group.add(madeUpMemories(at, atOnce));
  await group.flush();
  const search = async (): Promise<number> => {
    const query = queryOf();
    const begun = performance.now();
    await group.search(query, { limit: 10 });
    return performance.now() - begun;
  };
  const first = await search();
  for (let run = 0; run < 20; run += 1) await search();
  const values: number[] = [];
  for (let run = 0; run < 200; run += 1) values.push(await search());
  return { first, values, rssMb: process.memoryUsage().rss / 1e6 };
}
