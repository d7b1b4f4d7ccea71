import { stat } from "node:fs/promises";
import { join } from "node:path";

import { GroupMemory } from "../../src/abilities/memory/group-memory.ts";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import type { BenchContext } from "../harness/bench.ts";
import { type Figure, figureOf } from "../harness/figure.ts";
import { madeUpMemories, queryOf, weights } from "./made-up-memories.ts";

const atOnce = 2_000;

/**
 * A group that remembers a million things: what a process holds of it, and how it goes on. By words, so that nothing
 * waits for a model.
 */
export async function memoryMillion({ quick, say }: BenchContext): Promise<Figure[]> {
  const items = quick ? 200_000 : 1_000_000;
  await using folder = await temporaryFolder();
  const path = join(folder.path, "group.sqlite");
  const added: number[] = [];
  {
    await using group = new GroupMemory({ path, weights });
    for (let at = 0; at < items; at += atOnce) {
      const memories = madeUpMemories(at, atOnce);
      const begun = performance.now();
      group.add(memories);
      added.push((performance.now() - begun) / atOnce);
      if (at % 100_000 === 0) say(`memory-million: ${at} added`);
    }
  }
  const begun = performance.now();
  await using group = new GroupMemory({ path, weights });
  const opened = performance.now() - begun;
  const first = await timed(() => group.search(queryOf(), { limit: 10 }));
  const searches: number[] = [];
  for (let run = 0; run < 100; run += 1) searches.push(await timed(() => group.search(queryOf(), { limit: 10 })));
  const later: number[] = [];
  for (let run = 0; run < 50; run += 1) later.push(await timed(() => group.add(madeUpMemories(items + run, 1))));
  const mb = process.memoryUsage().rss / 1e6;
  const bench = "memory-million";
  const name = `of ${items}`;
  return [
    figureOf({ bench, figure: `add one ${name}, in 2,000s`, unit: "ms", values: added }),
    figureOf({ bench, figure: `open the file ${name}`, unit: "ms", values: [opened] }),
    figureOf({ bench, figure: `first search ${name}`, unit: "ms", values: [first] }),
    figureOf({ bench, figure: `search ${name}`, unit: "ms", values: searches }),
    figureOf({ bench, figure: `add one more ${name}`, unit: "ms", values: later }),
    figureOf({ bench, figure: `process ${name}`, unit: "MB", values: [mb] }),
    figureOf({ bench, figure: `file ${name}`, unit: "MB", values: [(await stat(path)).size / 1e6] }),
  ];
}

async function timed(action: () => unknown): Promise<number> {
  const begun = performance.now();
  await action();
  return performance.now() - begun;
}
