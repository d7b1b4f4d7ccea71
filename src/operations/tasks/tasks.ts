import type { Actor } from "../../domain/actor.ts";
import type { Group, GroupChat } from "../../domain/group.ts";
import type { Task, TaskRun, Timing } from "../../domain/task.ts";
import type { Store } from "../../stores/store.ts";
import type { NewOperatorTask, TaskAction, TaskRunView, TaskView } from "./task-view.ts";
import { requireGroup } from "../require-group.ts";
import { resolveId } from "../resolve-id.ts";
import { ownCommand } from "../../lib/process/own-command.ts";

/** Whoever works for the operator: nobody has more rights. */
const byOperator = {
  actor: "operator" as Actor,
  role: "owner",
  origin: "owner",
  origins: [],
  requester: undefined,
} as const;

/** What is done with tasks in a host that runs. They throw AppErrors. */
export interface TaskDesk {
  make(group: GroupChat, wanted: Omit<NewOperatorTask, "group">, by: typeof byOperator): Promise<Task>;
  pause(id: string, by: typeof byOperator): Promise<Task>;
  resume(id: string, by: typeof byOperator): Promise<Task>;
  remove(id: string, by: typeof byOperator): Promise<Task>;
  run(id: string, by: typeof byOperator): Promise<Task>;
}

export interface TaskReadingOptions {
  readonly store: { readonly tasks: Pick<Store["tasks"], "idsBeginningWith" | "list" | "runs"> };
  readonly groups: { list(): readonly Pick<Group, "name">[] };
}

export interface TaskOperationOptions {
  readonly taskDesk: TaskDesk;
  readonly groups: { list(): readonly GroupChat[] };
}

/** In the order of making. */
export async function listTasks({ store, groups }: TaskReadingOptions, group: string | undefined): Promise<TaskView[]> {
  if (group !== undefined) requireGroup(groups.list(), group);
  return (await store.tasks.list({ group })).map(viewTask);
}

/** What became of the due times of a task, newest first. */
export async function taskHistory({ store }: TaskReadingOptions, given: string, limit: number): Promise<TaskRunView[]> {
  const id = await resolveId(given, {
    what: "task",
    list: ownCommand("tasks list"),
    beginningWith: (prefix, most) => store.tasks.idsBeginningWith(prefix, most),
  });
  return (await store.tasks.runs(id, limit)).map(viewRun);
}

export async function addTask(
  { taskDesk, groups }: TaskOperationOptions,
  { group, ...wanted }: NewOperatorTask,
  actor: Actor = "operator",
): Promise<TaskView> {
  return viewTask(await taskDesk.make(requireGroup(groups.list(), group), wanted, { ...byOperator, actor }));
}

export async function actOnTask({ taskDesk }: TaskOperationOptions, id: string, action: TaskAction): Promise<TaskView> {
  return viewTask(await taskDesk[action](id, byOperator));
}

export function viewTask(task: Task): TaskView {
  const { id, group, name, prompt, state, reason, timing, timezone, mode, missed, failures, role, requester } = task;
  return {
    id,
    group: group.name,
    name,
    prompt,
    ...viewTiming(timing),
    timezone,
    mode,
    missed,
    next: state === "active" ? isoTime(task.next) : null,
    state,
    reason,
    failures,
    role,
    requester,
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

function viewRun({ task, due, state, claimedAt, endedAt, attempts, turn, reason }: TaskRun): TaskRunView {
  return {
    id: `${task}:${due}`,
    due: new Date(due).toISOString(),
    state,
    startedAt: new Date(claimedAt).toISOString(),
    endedAt: isoTime(endedAt),
    attempts,
    turn: turn ?? null,
    reason: reason ?? null,
  };
}

function isoTime(time: number | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString();
}
