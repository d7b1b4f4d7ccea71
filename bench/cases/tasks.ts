import { join } from "node:path";

import pino from "pino";

import type { NewTask } from "../../src/domain/work/task.ts";
import { systemClock } from "../../src/lib/time/clock.ts";
import { Scheduler } from "../../src/abilities/tasks/scheduler.ts";
import { openStore } from "../../src/stores/catalog.ts";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import type { BenchContext } from "../harness/bench.ts";
import type { Figure } from "../harness/figure.ts";
import { figureOf } from "../harness/figure.ts";
import { groupNames } from "../harness/host.ts";
import { ofMember } from "../../test/support/lineages.ts";

const perGroup = 20;

/**
 * Tasks of many groups that are due in the same minute: how long it takes until each has its work, and what of it stays
 * in memory.
 */
export async function tasks({ quick }: BenchContext): Promise<Figure[]> {
  const groups = groupNames(quick ? 50 : 500);
  const count = groups.length * perGroup;
  await using folder = await temporaryFolder();
  await using store = await openStore({ kind: "sqlite", path: join(folder.path, "store") });
  const due = systemClock.now();
  for (const group of groups)
    for (let index = 0; index < perGroup; index += 1) await store.tasks.add(dueTask(group, index, due), perGroup);
  await using scheduler = new Scheduler({
    tasks: store.tasks,
    groupNow: (group) => group,
    workAdded: () => undefined,
    deliver: () => undefined,
    wordsFor: () => undefined,
    tellOperator: () => undefined,
    publish: async () => undefined,
    clock: systemClock,
    logger: pino({ level: "silent" }),
  });
  const heap = usedMb();
  const began = performance.now();
  scheduler.changed();
  await scheduler.idle();
  const took = performance.now() - began;
  const more = usedMb() - heap;
  const claimed = (await store.work.list({ limit: 2 * count })).length;
  const name = `of ${count} tasks of ${groups.length} groups`;
  return [
    figureOf({ bench: "tasks", figure: `claim ${name}`, unit: "ms", values: [took] }),
    figureOf({ bench: "tasks", figure: `heap after the claim ${name}`, unit: "MiB more", values: [more] }),
    figureOf({
      bench: "tasks",
      figure: `claimed ${name}`,
      unit: "tasks",
      values: [claimed],
      target: { text: "each once", holds: ({ median }) => median === count },
    }),
  ];
}

function usedMb(): number {
  return process.memoryUsage().heapUsed / 1_048_576;
}

function dueTask(group: string, index: number, at: number): NewTask {
  return {
    id: `t-${group}-${index}`,
    group: { name: group, channel: "http", chat: group },
    name: group,
    prompt: "look",
    timing: { kind: "every", everyMs: 60_000, since: at - 60_000 },
    timezone: "UTC",
    mode: index % 2 === 0 ? "isolated" : "group",
    missed: "skip",
    origin: "member",
    lineage: ofMember,
    next: at + (index % 2),
    createdAt: at,
  };
}
