import * as z from "zod";

import type { Actor } from "../../domain/people/actor.ts";
import type { Lineage } from "../../domain/rights/lineage.ts";
import type { Group, GroupChat } from "../../domain/chats/group.ts";
import { missedRules, type Task, taskModes } from "../../domain/work/task.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { plainSentence, quotedName } from "../../lib/text/plain-words.ts";
import type { Store } from "../../stores/contract/store.ts";
import { defineOperation, type OperationCall } from "../../operations/definition/define-operation.ts";
import { requireGroup } from "../../operations/lookup/require-group.ts";
import { resolveId } from "../../operations/lookup/resolve-id.ts";
import { limit, list, name, onlyGroup } from "../../operations/definition/schemas.ts";
import { taskRights } from "./task-rights.ts";
import { taskRunView, type TaskView, taskView, viewRun, viewTask } from "./task-view.ts";

const short = z.string().min(1).max(256).optional();

/** A task that the operator wants; exactly one of `at`, `every` and `cron`. */
const newTask = z.strictObject({
  group: name.describe("the group whose agent does it"),
  prompt: z.string().min(1).max(16_000).describe("instructions for each run"),
  name: short.describe("name that people see"),
  at: short.describe("once: 2026-01-15T09:00:00, in the time zone unless it has an offset"),
  every: short.describe("repeatedly: 1m, 2h, 1d"),
  cron: short.describe("five fields, such as `0 9 * * 1-5`"),
  timezone: short.describe("IANA time zone, such as Europe/Paris"),
  mode: z.enum(taskModes).optional().describe("in the group's conversation, or in a new one for each run"),
  missed: z.enum(missedRules).optional().describe("what to do about runs missed while the host was off"),
});

/** Author of a task or a change to it, with the rights that it has. */
export interface TaskAuthor {
  readonly actor: Actor;
  readonly lineage: Lineage;
}

/** The operator has the rights of an owner. */
function authorOf({ actor, member }: OperationCall): TaskAuthor {
  const role = member?.role ?? "owner";
  const people = member?.keys.slice(0, 1) ?? [];
  return { actor, lineage: { role, origins: [role], people, narrowed: [] } };
}

/** Makes and changes tasks in a host that runs; its methods throw AppErrors. */
export interface TaskOperations {
  make(group: GroupChat, wanted: Omit<z.output<typeof newTask>, "group">, by: TaskAuthor): Promise<Task>;
  pause(id: string, by: TaskAuthor): Promise<Task>;
  resume(id: string, by: TaskAuthor): Promise<Task>;
  remove(id: string, by: TaskAuthor): Promise<Task>;
  /** Repeated with the same time, it is run once. */
  run(id: string, by: TaskAuthor, requestedAt?: number): Promise<Task>;
  /** Rejects with `not_found`. */
  find(id: string): Promise<Task>;
}

/** The parts that look at tasks. */
export interface TaskReadingNeeds {
  readonly store: { readonly tasks: Pick<Store["tasks"], "idsBeginningWith" | "list" | "runs"> };
  readonly groups: { list(): readonly Pick<Group, "name">[] };
}

/** The parts that change them. */
export interface TaskNeeds {
  readonly taskDesk: TaskOperations;
  readonly groups: { list(): readonly GroupChat[] };
}

export const listTasks = defineOperation<TaskReadingNeeds>()({
  name: "tasks.list",
  summary: "list tasks in the order of making",
  input: z.strictObject({ group: onlyGroup }),
  output: list(taskView),
  may: { scope: "read", role: taskRights.look.role, fromMain: taskRights.look.fromMain },
  effect: "none",
  rest: "GET /tasks",
  listAs: "tasks",
  offline: true,
  cli: {
    table: [
      "id",
      "group",
      "name",
      { title: "when", of: describeTiming },
      "next",
      "state",
      { title: "last run", of: ({ lastRun }) => lastRun?.state },
      { title: "failed", of: ({ failures }) => (failures > 0 ? failures : undefined) },
      { field: "prompt", short: true },
    ],
    none: () => "There are no tasks.",
  },
  chat: {
    form: "/tasks",
    say: (tasks, { showTime }) => {
      const live = tasks.filter(({ state }) => state !== "done").slice(0, chatLines);
      const lines = live.map(
        (task) => `${task.id} ${quotedName(task.name, "unnamed")}: ${describeState(task, showTime)}`,
      );
      return lines.length === 0 ? "There are no tasks." : lines.join("\n");
    },
  },
  run: async ({ store, groups }, { group }) => {
    if (group !== undefined) requireGroup(groups.list(), group);
    return (await store.tasks.list({ group })).map(viewTask);
  },
});

export const taskHistory = defineOperation<TaskReadingNeeds>()({
  name: "tasks.history",
  summary: "list the times at which a task was due, newest first",
  input: z.strictObject({ id: name.describe("id of the task, or its beginning"), limit: limit(20) }),
  output: list(taskRunView),
  may: { scope: "read" },
  effect: "none",
  rest: "GET /tasks/{id}/history",
  listAs: "runs",
  offline: true,
  cli: {
    args: ["id"],
    table: ["due", "state", "attempts", "endedAt", "turn", "reason"],
    none: () => "No runs yet.",
  },
  run: async ({ store }, { id: given, limit: most }) => {
    const id = await resolveId(given, {
      what: "task",
      list: ownCommand("tasks list"),
      beginningWith: (prefix, atMost) => store.tasks.idsBeginningWith(prefix, atMost),
    });
    return (await store.tasks.runs(id, most)).map(viewRun);
  },
});

/** Rejects with `bad_input`, and with `conflict` when the group has too many. */
export const addTask = defineOperation<TaskNeeds>()({
  name: "tasks.add",
  summary: "give the agent of a group something to do at certain times",
  input: newTask,
  output: taskView,
  may: { scope: "admin" },
  effect: "change",
  rest: "POST /tasks",
  // The prompt stays in the store.
  record: ({ group, mode, missed }) => ({ group, ...(mode && { mode }), ...(missed && { missed }) }),
  cli: { say: ({ id, group, next }) => `Task ${id} of group ${group}: next at ${next ?? "no time"}.` },
  run: async ({ taskDesk, groups }, { group, ...wanted }, call) =>
    viewTask(await taskDesk.make(requireGroup(groups.list(), group), wanted, authorOf(call))),
});

const done = { pause: "is paused", resume: "goes on", remove: "is removed", run: "runs now" } as const;
/** Tasks that a chat is shown at once. */
const chatLines = 50;

export const pauseTask = actOnTask("pause", "pause a task");
export const resumeTask = actOnTask("resume", "resume a paused task; missed runs are not repeated");
export const removeTask = actOnTask("remove", "remove a task and its history");
export const runTask = actOnTask("run", "run a task once now, in addition to its schedule");

function actOnTask(action: "pause" | "resume" | "remove" | "run", summary: string) {
  return defineOperation<TaskNeeds>()({
    name: `tasks.${action}`,
    summary,
    input: z.strictObject({ id: name.describe("id of the task, or its beginning") }),
    output: taskView,
    may: {
      scope: "admin",
      role: taskRights.change.role,
      fromMain: taskRights.change.fromMain,
      of: async ({ taskDesk }, { id }) => (await taskDesk.find(id)).group.name,
      own: async ({ taskDesk }, { id }) => (await taskDesk.find(id)).lineage,
      refusal: `/tasks ${action} needs an admin, or whoever the task is for.`,
    },
    effect: action === "remove" ? "destroy" : "change",
    rest: `POST /tasks/{id}/${action}`,
    cli: { args: ["id"], say: ({ id, group }) => `Task ${id} of group ${group} ${done[action]}.` },
    chat: {
      form: `/tasks ${action} ID`,
      say: ({ id, name: called }) => `The task ${id} ${quotedName(called, "")} ${done[action]}.`,
    },
    run: async ({ taskDesk }, { id }, call: OperationCall) =>
      viewTask(await taskDesk[action](id, authorOf(call), call.requestedAt)),
  });
}

function describeTiming({ at, every, cron, timezone }: TaskView): string {
  if (at !== undefined) return `at ${at}`;
  return every === undefined ? `${cron ?? ""} (${timezone})` : `every ${every}`;
}

function describeState({ state, reason, next, lastRun }: TaskView, showTime: (time: number) => string): string {
  const last = lastRun === null ? "" : `, last run ${lastRun.state}`;
  if (state === "paused") return `paused${reason === undefined ? "" : ` (${plainSentence(reason)})`}${last}`;
  return `next ${next === null ? "never" : showTime(Date.parse(next))}${last}`;
}

/** Operations on tasks. */
export const taskOperations = [listTasks, addTask, pauseTask, resumeTask, removeTask, runTask, taskHistory] as const;
