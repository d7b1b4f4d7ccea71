import type { Task } from "../../domain/work/task.ts";

/** A run that is later than this was missed; one that is less late was only waited for. */
const lateMs = 20_000;
/** Age above which missed runs are not made up for. */
const windowMs = 86_400_000;

/** Plan for a task's due times. */
export interface DuePlan {
  /** In order. */
  readonly runs: readonly number[];
  /** Skipped due times: the last one and their number; `more`: there were earlier, uncounted ones. */
  readonly missed: { readonly due: number; readonly count: number; readonly more: boolean } | undefined;
  /** The first one after now. */
  readonly next: number | undefined;
}

/** Which due times are run, by the task's rule for those that were missed. `next` of the task has come. */
export function planDue(
  task: Pick<Task, "missed"> & { readonly next: number },
  dueAfter: (moment: number) => number | undefined,
  now: number,
): DuePlan {
  const begin = now - windowMs;
  const isOld = task.next < begin;
  const late: number[] = [];
  const onTime: number[] = [];
  let due: number | undefined = isOld ? dueAfter(begin) : task.next;
  for (; due !== undefined && due <= now; due = dueAfter(due)) (now - due >= lateMs ? late : onTime).push(due);
  const made = madeUpFor(task.missed, late, onTime);
  const passed = late.filter((one) => !made.includes(one));
  const last = passed.at(-1) ?? (isOld ? task.next : undefined);
  return {
    runs: [...made, ...onTime],
    missed: last === undefined ? undefined : { due: last, count: passed.length + (isOld ? 1 : 0), more: isOld },
    next: due,
  };
}

function madeUpFor(rule: Task["missed"], late: readonly number[], onTime: readonly number[]): readonly number[] {
  if (rule === "all") return late;
  return rule === "latest" && onTime.length === 0 ? late.slice(-1) : [];
}
