import { expect, test } from "vitest";

import type { MissedRule } from "../../../../src/domain/work/task.ts";
import { planDue } from "../../../../src/abilities/tasks/due-plan.ts";
import { dueTimes } from "../../../../src/abilities/tasks/timing.ts";

const minute = 60_000;
const begin = 1_767_225_600_000;

async function plan(missed: MissedRule, { everyMs = minute, due = begin, lateMs = 0 }) {
  const dueAfter = await dueTimes({ kind: "every", everyMs, since: begin - 10 * everyMs }, "UTC");
  const planned = planDue({ missed, next: due }, dueAfter, due + lateMs);
  return {
    ...planned,
    runs: planned.runs.map((at) => (at - begin) / minute),
    next: ((planned.next ?? 0) - begin) / minute,
  };
}

test("a due time that is less than 20 s late is run, whatever the rule", async () => {
  for (const rule of ["skip", "latest", "all"] as const) {
    expect(await plan(rule, { lateMs: 2_000 })).toMatchObject({ runs: [0], missed: undefined, next: 1 });
    expect((await plan(rule, { lateMs: 19_999 })).runs).toEqual([0]);
  }
  expect(await plan("skip", { lateMs: 20_000 })).toMatchObject({ runs: [], missed: { count: 1 }, next: 1 });
});

test("of what passed while the host was away none, the last or all is made up for, and the grid stays", async () => {
  const lateMs = 9 * minute + 30_000;

  expect(await plan("skip", { lateMs })).toMatchObject({ runs: [], missed: { count: 10, more: false }, next: 10 });
  expect(await plan("latest", { lateMs })).toMatchObject({ runs: [9], missed: { count: 9 }, next: 10 });
  expect(await plan("all", { lateMs })).toMatchObject({
    runs: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    missed: undefined,
    next: 10,
  });
});

test("what was due more than a day ago is not made up for", async () => {
  const day = 86_400_000;

  expect(await plan("all", { everyMs: day, lateMs: 3 * day + minute })).toMatchObject({
    runs: [(3 * day) / minute],
    missed: { more: true },
    next: (4 * day) / minute,
  });
  const once = planDue({ missed: "latest", next: begin }, () => undefined, begin + 2 * day);
  expect(once).toMatchObject({ runs: [], missed: { due: begin, count: 1 }, next: undefined });
  expect(planDue({ missed: "latest", next: begin }, () => undefined, begin + day - 1).runs).toEqual([begin]);
});
