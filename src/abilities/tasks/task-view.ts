import { lineageView, viewLineage } from "../../operations/definition/lineage-view.ts";
import * as z from "zod";

import {
  missedRules,
  runStates,
  type Task,
  taskModes,
  type TaskRun,
  taskStates,
  type Timing,
} from "../../domain/work/task.ts";
import { isoTime } from "../../operations/definition/schemas.ts";

/** One due time of a task. */
export const taskRunView = z.strictObject({
  id: z.string(),
  due: isoTime,
  state: z.enum(runStates),
  startedAt: isoTime,
  endedAt: isoTime.nullable(),
  attempts: z.number(),
  turn: z.string().nullable(),
  reason: z.string().nullable(),
});

export type TaskRunView = z.infer<typeof taskRunView>;

/** A task; `next` is null where it is never due by itself. */
export const taskView = z.strictObject({
  id: z.string(),
  group: z.string(),
  name: z.string(),
  prompt: z.string(),
  at: isoTime.optional(),
  every: z.string().optional(),
  cron: z.string().optional(),
  timezone: z.string(),
  mode: z.enum(taskModes),
  missed: z.enum(missedRules),
  next: isoTime.nullable(),
  state: z.enum(taskStates),
  reason: z.string().optional(),
  failures: z.number(),
  ...lineageView.shape,
  createdAt: isoTime,
  lastRun: taskRunView.nullable(),
});

export type TaskView = z.infer<typeof taskView>;

/** A task as the operator sees it. */
export function viewTask(task: Task): TaskView {
  const { id, group, name, prompt, state, reason, timing, timezone, mode, missed, failures, lineage } = task;
  return {
    id,
    group: group.name,
    name,
    prompt,
    ...viewTiming(timing),
    timezone,
    mode,
    missed,
    next: state === "active" ? isoOrNull(task.next) : null,
    state,
    reason,
    failures,
    ...viewLineage(lineage),
    createdAt: new Date(task.createdAt).toISOString(),
    lastRun: task.lastRun ? viewRun(task.lastRun) : null,
  };
}

function viewTiming(timing: Timing): Pick<TaskView, "at" | "every" | "cron"> {
  if (timing.kind === "at") return { at: new Date(timing.at).toISOString() };
  if (timing.kind === "cron") return { cron: timing.cron };
  const minutes = timing.everyMs / 60_000;
  if (minutes % 1_440 === 0) return { every: `${minutes / 1_440}d` };
  return { every: minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m` };
}

/** A run of a task as the operator sees it. */
export function viewRun({ task, due, state, claimedAt, endedAt, attempts, turn, reason }: TaskRun): TaskRunView {
  return {
    id: `${task}:${due}`,
    due: new Date(due).toISOString(),
    state,
    startedAt: new Date(claimedAt).toISOString(),
    endedAt: isoOrNull(endedAt),
    attempts,
    turn: turn ?? null,
    reason: reason ?? null,
  };
}

function isoOrNull(time: number | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString();
}
