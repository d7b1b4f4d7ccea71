import { randomBytes } from "node:crypto";

import type { Actor } from "../../domain/people/actor.ts";
import type { Group, GroupChat } from "../../domain/chats/group.ts";
import type { Origin } from "../../domain/people/origin.ts";
import { isAtLeast, type Role } from "../../domain/people/role.ts";
import { inherit, type Lineage } from "../../domain/rights/lineage.ts";
import {
  type MissedRule,
  type NewTask,
  type Task,
  type TaskGroup,
  type TaskMode,
  tasksPerGroup,
  type Timing,
} from "../../domain/work/task.ts";
import type { Publish } from "../../domain/events/event.ts";
import { AppError } from "../../lib/app-error.ts";
import { shorten } from "../../lib/text/visible.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { TaskChange, TaskStore } from "../../stores/contract/task-store.ts";
import { workOf } from "./scheduler.ts";
import { nextDue, readTiming, type WantedTiming } from "./timing.ts";

/** A task as requested; omitted fields are up to the host. */
export interface WantedTask extends WantedTiming {
  readonly prompt: string;
  readonly name?: string | undefined;
  readonly timezone?: string | undefined;
  readonly mode?: TaskMode | undefined;
  readonly missed?: MissedRule | undefined;
}

/** The author of a change to tasks, with their rights. */
export interface TaskMaker {
  readonly actor: Actor;
  readonly lineage: Lineage;
  /** Earliest due time of a task that nobody requested just now, so that tasks cannot drive themselves. */
  readonly earliest?: number | undefined;
}

export interface TaskBookOptions {
  readonly tasks: Pick<
    TaskStore,
    "add" | "change" | "get" | "idsBeginningWith" | "list" | "remove" | "runNow" | "setState"
  >;
  /** Returns the task's group with its agent. */
  readonly groupNow?: ((group: TaskGroup) => TaskGroup | undefined) | undefined;
  readonly timeZone: (group: string) => string;
  /** Returns why a time zone is unusable; undefined when usable. */
  readonly zoneFault: (zone: string) => string | undefined;
  /** Tasks were made or changed. */
  readonly changed: () => void;
  readonly workAdded: () => void;
  readonly publish: Publish<
    | "schedule.made"
    | "schedule.changed"
    | "schedule.paused"
    | "schedule.resumed"
    | "schedule.removed"
    | "schedule.claimed"
  >;
  readonly clock: Pick<Clock, "now">;
}

/** Group of a new task. */
type WantedGroup = GroupChat & Pick<Group, "agent" | "agents">;

const nameChars = 60;
const promptChars = 16_000;

/** Actions on tasks for people and agents. Throws AppErrors with fault and remedy. */
export class TaskBook {
  readonly #options: TaskBookOptions;

  constructor(options: TaskBookOptions) {
    this.#options = options;
  }

  async make({ name, channel, chat, agent, agents }: WantedGroup, wanted: WantedTask, maker: TaskMaker): Promise<Task> {
    const { tasks, clock, publish } = this.#options;
    const now = clock.now();
    const timezone = this.#zone(wanted.timezone ?? this.#options.timeZone(name));
    const timing = await readTiming(wanted, timezone, now);
    requireNotSooner(timing, maker);
    const prompt = readPrompt(wanted.prompt);
    const task: NewTask = {
      // As long as 10,000 tasks need, of which no two may have the same.
      id: `t${randomBytes(6).toString("hex")}`,
      // One of several agents does itself what it plans; a single one may be another one by then.
      group: { name, channel, chat, ...(agents && agent !== undefined && { agent }) },
      name: readName(wanted.name ?? prompt),
      prompt,
      timing,
      timezone,
      mode: wanted.mode ?? "isolated",
      missed: wanted.missed ?? (timing.kind === "at" ? "latest" : "skip"),
      origin: originOf(maker),
      lineage: maker.lineage,
      next: timing.kind === "at" ? timing.at : await nextDue(timing, timezone, now),
      createdAt: now,
    };
    const data = { task: task.id, kind: timing.kind, mode: task.mode, missed: task.missed, role: task.lineage.role };
    await publish({ type: "schedule.made", group: name, actor: maker.actor, data });
    if (!(await tasks.add(task, tasksPerGroup)))
      throw new AppError(
        "conflict",
        `The group "${name}" has ${tasksPerGroup} tasks, which is as many as it may have.`,
        {
          fix: "remove one that is not needed anymore",
        },
      );
    this.#options.changed();
    return this.find(task.id);
  }

  async change(id: string, wanted: Partial<WantedTask>, maker: TaskMaker): Promise<Task> {
    const { tasks, clock, publish } = this.#options;
    const task = await this.#changeable(id, maker);
    const change = await this.#changeOf(task, wanted);
    if (change.timing) requireNotSooner(change.timing, maker);
    const fields = Object.keys(wanted).filter((field) => wanted[field as keyof WantedTask] !== undefined);
    if (fields.length === 0)
      throw new AppError("bad_input", `Nothing was said that task ${task.id} is to be changed to.`);
    const lineage = inherit([task.lineage, maker.lineage]);
    await publish({
      type: "schedule.changed",
      group: task.group.name,
      actor: maker.actor,
      data: { task: task.id, fields },
    });
    await tasks.change(task.id, { ...change, lineage });
    if (task.state === "done" && change.next !== undefined && change.next > clock.now())
      await tasks.setState(task.id, { state: "active", next: change.next });
    this.#options.changed();
    return this.find(task.id);
  }

  async pause(id: string, maker: TaskMaker): Promise<Task> {
    const task = await this.#changeable(id, maker, "admin");
    if (task.state !== "active")
      throw new AppError("conflict", `Task ${task.id} is ${task.state}, so it cannot be paused.`);
    const reason = "somebody paused it";
    await this.#publish("schedule.paused", task, maker, { reason });
    await this.#options.tasks.setState(task.id, { state: "paused", reason, next: task.next });
    this.#options.changed();
    return this.find(task.id);
  }

  /** Due times that passed meanwhile are not made up for. */
  async resume(id: string, maker: TaskMaker): Promise<Task> {
    const { tasks, clock, changed } = this.#options;
    const task = await this.#changeable(id, maker, "admin");
    if (task.state !== "paused") throw new AppError("conflict", `Task ${task.id} is ${task.state}, not paused.`);
    const next = await nextDue(task.timing, task.timezone, clock.now());
    if (next === undefined)
      throw new AppError("conflict", `The time of task ${task.id} has passed.`, {
        fix: "run it now, or give it another time",
      });
    await this.#publish("schedule.resumed", task, maker, {});
    await tasks.setState(task.id, { state: "active", next });
    changed();
    return this.find(task.id);
  }

  async remove(id: string, maker: TaskMaker): Promise<Task> {
    const task = await this.#changeable(id, maker, "admin");
    await this.#publish("schedule.removed", task, maker, {});
    await this.#options.tasks.remove(task.id);
    this.#options.changed();
    return task;
  }

  /** Besides the times at which it is due; the same moment is run once. */
  async run(id: string, maker: TaskMaker, due = this.#options.clock.now()): Promise<Task> {
    const { tasks, workAdded } = this.#options;
    const task = await this.#changeable(id, maker, "admin");
    if (maker.earliest !== undefined)
      throw new AppError("conflict", `Task ${task.id} is not run at once, because nobody has asked in this turn.`, {
        fix: "leave it to its time",
      });
    await this.#publish("schedule.claimed", task, maker, { due, lateMs: 0 });
    const group = this.#options.groupNow?.(task.group) ?? task.group;
    if (
      !(await tasks.runNow(
        { ...task, group },
        { due, work: workOf({ ...task, lineage: inherit([task.lineage, maker.lineage]) }, due, due) },
        due,
      ))
    )
      throw new AppError("conflict", `Task ${task.id} is running, or waits for its next attempt.`);
    workAdded();
    return this.find(task.id);
  }

  /** Tasks in order of creation. */
  list(group?: string): Promise<Task[]> {
    return this.#options.tasks.list({ group });
  }

  /** By its id or a beginning that no other has. */
  async find(given: string): Promise<Task> {
    const { tasks } = this.#options;
    const ids = await tasks.idsBeginningWith(given, 2);
    const only = ids.length === 1 ? ids[0] : undefined;
    const id = ids.includes(given) ? given : only;
    const task = id === undefined || given === "" ? undefined : await tasks.get(id);
    if (task) return task;
    const why = ids.length > 1 ? `"${given}" is the beginning of more than one task.` : `There is no task "${given}".`;
    throw new AppError(ids.length > 1 ? "bad_input" : "not_found", why, { fix: "look at the list of tasks" });
  }

  /** Returns a changeable task: nobody changes one by somebody with more rights; admins may see all. */
  async #changeable(id: string, { lineage: { role } }: TaskMaker, least: Role = "owner"): Promise<Task> {
    const task = await this.find(id);
    if (isAtLeast(role, task.lineage.role) || isAtLeast(role, least)) return task;
    throw new AppError(
      "conflict",
      `Task ${task.id} was made by somebody with the role ${task.lineage.role}; ${role} may not change it.`,
    );
  }

  async #changeOf(task: Task, wanted: Partial<WantedTask>): Promise<TaskChange> {
    const { name, prompt, mode, missed } = wanted;
    const now = this.#options.clock.now();
    const timezone = wanted.timezone === undefined ? task.timezone : this.#zone(wanted.timezone);
    const isTimed = [wanted.at, wanted.every, wanted.cron].some((one) => one !== undefined);
    const timing = isTimed ? await readTiming(wanted, timezone, now) : task.timing;
    const next = timing.kind === "at" ? timing.at : await nextDue(timing, timezone, now);
    return {
      ...(name !== undefined && { name: readName(name) }),
      ...(prompt !== undefined && { prompt: readPrompt(prompt) }),
      ...(mode !== undefined && { mode }),
      ...(missed !== undefined && { missed }),
      ...((isTimed || timezone !== task.timezone) && { timing, timezone, next }),
    };
  }

  #zone(zone: string): string {
    const fault = this.#options.zoneFault(zone);
    if (fault !== undefined) throw new AppError("bad_input", `The task cannot be made: ${fault}.`);
    return zone;
  }

  async #publish(
    type: "schedule.paused" | "schedule.resumed" | "schedule.removed" | "schedule.claimed",
    { id, group }: Task,
    { actor }: TaskMaker,
    data: object,
  ): Promise<void> {
    const event = { type, group: group.name, actor, data: { task: id, ...data } };
    await this.#options.publish(event as Parameters<TaskBookOptions["publish"]>[0]);
  }
}

/** Words that an agent chose are an agent's, whoever it worked for. */
function originOf({ actor, lineage }: TaskMaker): Origin {
  return actor === "agent" && lineage.people.length === 0 ? "agent" : lineage.role;
}

function requireNotSooner(timing: Timing, { earliest }: TaskMaker): void {
  if (earliest === undefined || timing.kind !== "at" || timing.at >= earliest) return;
  throw new AppError(
    "bad_input",
    "Nobody has asked in this turn, so what it schedules is due in a minute at the earliest.",
    {
      fix: "give a later time, or do it now",
    },
  );
}

function readPrompt(given: string): string {
  const prompt = given.trim().toWellFormed();
  if (prompt === "") throw new AppError("bad_input", "A task needs a prompt: what is to be done.");
  if (prompt.length <= promptChars) return prompt;
  throw new AppError("bad_input", `The prompt has ${prompt.length} characters; at most ${promptChars} are possible.`);
}

function readName(given: string): string {
  return shorten(given.trim().split("\n")[0] ?? "", nameChars).toWellFormed();
}
