import { setTimeout as delay } from "node:timers/promises";

import type { BenchContext } from "../harness/bench.ts";
import type { Client } from "../harness/client.ts";
import { figureOf } from "../harness/figure.ts";
import type { Figure } from "../harness/figure.ts";
import { groupNames, startHost } from "../harness/host.ts";
import { summarize } from "../harness/statistics.ts";

/** Messages of the flooding group that wait at any moment. */
const floodDepth = 20;

/** Nine groups speak once a second, first alone, then while a tenth says all that it can. */
export async function fair({ quick, modelUrl }: BenchContext): Promise<Figure[]> {
  const quiet = groupNames(9);
  const seconds = quick ? 5 : 20;
  await using stack = new AsyncDisposableStack();
  // The flood is to be bounded by the queue, not by what one sender may say.
  const config = { intake: { perSenderPerMinute: 1_000_000 } };
  const { client } = stack.use(await startHost({ modelUrl, groups: [...quiet, "flood"], config }));
  await Promise.all([...quiet, "flood"].map((group) => client.time(group, "hello")));
  const alone = await speak(client, quiet, seconds);
  const stop = new AbortController();
  const flooding = Promise.all(Array.from({ length: floodDepth }, () => flood(client, stop.signal)));
  const beside = await speak(client, quiet, seconds);
  stop.abort();
  const counts = await flooding;
  const unloaded = summarize(alone).p95;
  return [
    figureOf({
      bench: "fair",
      figure: "wait of the nine beside the flood",
      unit: "ms",
      values: beside,
      floor: { name: "unloaded", values: alone },
      target: { text: "p95 ≤ 2 × unloaded p95", holds: (seen) => seen.p95 <= 2 * unloaded },
    }),
    figureOf({ bench: "fair", figure: "wait of the nine unloaded", unit: "ms", values: alone }),
    figureOf({
      bench: "fair",
      figure: "answers to the flood",
      unit: "a second",
      values: [counts.reduce((sum, count) => sum + count, 0) / seconds],
    }),
  ];
}

/** Each group speaks once a second, at its own moment. */
async function speak(client: Client, groups: readonly string[], seconds: number): Promise<number[]> {
  const waits: number[] = [];
  const speaking = groups.map(async (group, index) => {
    await delay((1_000 / groups.length) * index);
    for (let second = 0; second < seconds; second += 1) {
      const begun = performance.now();
      waits.push(await client.time(group, "hello"));
      await delay(Math.max(0, 1_000 - (performance.now() - begun)));
    }
  });
  await Promise.all(speaking);
  return waits;
}

async function flood(client: Client, stop: AbortSignal): Promise<number> {
  let answers = 0;
  for (; !stop.aborted; answers += 1) await client.time("flood", "flood");
  return answers;
}
