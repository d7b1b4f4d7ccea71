import { join } from "node:path";

import type { Embedder } from "../../src/memory/embedding/embedder.ts";
import { GroupMemory } from "../../src/memory/group-memory.ts";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import type { BenchContext } from "../harness/bench.ts";
import { type Figure, figureOf } from "../harness/figure.ts";

const dimensions = 384;
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
  const random = randomNumbers(7);
  const word = (): string => `w${Math.floor(random() ** 3 * 20_000)}`;
  const words = (count: number): string => Array.from({ length: count }, word).join(" ");
  const embedder: Embedder = {
    model: "made-up",
    dimensions,
    isEnglish: true,
    embed: async (texts) => texts.map(() => Float32Array.from({ length: dimensions }, () => (random() - 0.5) / 5.66)),
    [Symbol.asyncDispose]: async () => {},
  };
  const weights = { vector: 0.5, text: 0.5, neighbour: 0.3 };
  await using group = new GroupMemory({ path: join(folder.path, "group.sqlite"), weights, embedder });
  for (let at = 0; at < items; at += atOnce) {
    const said = { category: "conversation", origin: "member", sources: [] } as const;
    group.add(
      Array.from({ length: atOnce }, (_, place) => ({
        ...said,
        id: `m${at + place}`,
        text: words(14),
        time: (at + place) * 60_000,
        sender: place % 2 === 0 ? "Ann" : "Bob",
      })),
    );
  }
  await group.flush();
  const search = async (): Promise<number> => {
    const query = `What did Ann say about ${words(5)}?`;
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

/** The same ones each time. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state / 0x7fff_ffff;
  };
}
