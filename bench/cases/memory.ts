import { join } from "node:path";

import { GroupMemory } from "../../src/abilities/memory/group-memory.ts";
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
    const { first, pauses, values, rssMb } = await measure(items);
    const isShort = { text: "max ≤ 20 ms", holds: () => Math.max(...pauses) <= 20 };
    const target = { text: `p95 ≤ ${limitMs} ms`, holds: ({ p95 }: { readonly p95: number }) => p95 <= limitMs };
    figures.push(
      figureOf({ bench: "memory", figure: `search in ${items} memories`, unit: "ms", values, target }),
      figureOf({ bench: "memory", figure: `first search in ${items}`, unit: "ms", values: [first] }),
      figureOf({ bench: "memory", figure: `pauses meanwhile, ${items}`, unit: "ms", values: pauses, target: isShort }),
      figureOf({ bench: "memory", figure: `process with ${items}`, unit: "MB", values: [rssMb] }),
    );
  }
  return figures;
}

interface Measured {
  readonly first: number;
  readonly pauses: number[];
  readonly values: number[];
  readonly rssMb: number;
}

async function measure(items: number): Promise<Measured> {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "group.sqlite");
  const open = (): GroupMemory => new GroupMemory({ path, weights, embedder: madeUpEmbedder });
  {
    await using full = open();
    for (let at = 0; at < items; at += atOnce) full.add(madeUpMemories(at, atOnce));
    await full.flush();
  }
  await using group = open();
  const search = async (): Promise<number> => {
    const query = queryOf();
    const begun = performance.now();
    await group.search(query, { limit: 10 });
    return performance.now() - begun;
  };
  const { first, pauses } = await withPauses(search);
  for (let run = 0; run < 20; run += 1) await search();
  const values: number[] = [];
  for (let run = 0; run < 200; run += 1) values.push(await search());
  return { first, pauses, values, rssMb: process.memoryUsage().rss / 1e6 };
}

/** Longest pauses of the event loop during each search. */
async function withPauses(search: () => Promise<number>): Promise<{ first: number; pauses: number[] }> {
  const pauses: number[] = [];
  let last = performance.now();
  let isOver = false;
  const look = (): void => {
    const now = performance.now();
    pauses.push(now - last);
    last = now;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  const first = await search();
  isOver = true;
  return { first, pauses };
}
