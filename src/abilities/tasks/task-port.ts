import { unknownGroup } from "../../domain/chats/group.ts";
import { type ActionRights, type GroupThing, mayAct } from "../../domain/rights/may-act.ts";
import { leastGapMs, type Task } from "../../domain/work/task.ts";
import { ToolError } from "../../protocol/tools.ts";
import { inWordsForModel } from "../../tools/words-for-model.ts";
import type { CallingTurn } from "../define-ability.ts";
import type { TaskMaker, WantedTask } from "./task-book.ts";
import { taskRights } from "./task-rights.ts";
import type { TaskService } from "./task-service.ts";
import type { TaskPort } from "./tools/tasks-of-turn.ts";

/** Maximum number of tasks that one turn may make: one that makes more is going round in circles. */
const madePerTurn = 10;

/** The tasks that a turn may see and change. Throws ToolError. */
export function taskPort(
  { book, groups, lineageOf, askerOf, refusalToBegin, now }: TaskService,
  { group: own, turn }: CallingTurn,
): TaskPort {
  const named = async (wanted: string | undefined, rights: ActionRights) => {
    if (wanted === undefined || wanted === own.name) return own;
    if (mayAct(await askerOf(own, turn), rights, { group: wanted }) !== "allowed")
      throw new ToolError(`Only an admin of a main group may name another group than its own, "${own.name}".`);
    const group = groups.byName(wanted);
    if (group) return group;
    const known = groups.list().map(({ name }) => name);
    throw unknownGroup(wanted, known);
  };
  const changeable = async (id: string): Promise<Task> => {
    const task = await book.find(id).catch(() => undefined);
    const ruling = mayAct(await askerOf(own, turn), taskRights.change, thingOf(task));
    if (!task || ruling === "hidden") throw new ToolError(`There is no task "${id}". Use list_tasks to list them.`);
    if (ruling === "allowed") return task;
    throw new ToolError(`Task ${task.id} can be changed by whoever it is for, or an admin.`);
  };
  const isAsked = turn.cause === "message" || turn.cause === "webhook";
  const maker = async (): Promise<TaskMaker> => ({
    actor: "agent",
    lineage: await lineageOf(own, turn),
    earliest: isAsked ? undefined : now() + leastGapMs,
  });
  return inWordsForModel<TaskPort>({
    make: async (wanted, group) => {
      const target = await named(group, taskRights.make);
      const by = await maker();
      const refusal = refusalToBegin(target, by.lineage);
      if (refusal !== undefined) throw new ToolError(`Nothing was scheduled in ${target.name}: ${refusal}`);
      const made = (await book.list(target.name)).filter(({ createdAt }) => createdAt >= turn.startedAt);
      if (made.length >= madePerTurn) throw new ToolError(`At most ${madePerTurn} tasks can be made in one turn.`);
      return book.make(target, wanted, by);
    },
    list: async (group) => {
      const target = await named(group, taskRights.look);
      const asker = await askerOf(own, turn);
      const all = await book.list(own.main && group === undefined ? undefined : target.name);
      return all.filter((task) => mayAct(asker, taskRights.look, thingOf(task)) === "allowed");
    },
    change: async (given, { paused, ...wanted }) => {
      const { id, state } = await changeable(given);
      const by = await maker();
      const isChanged = Object.values(wanted).some((value) => value !== undefined);
      if (paused === true && state === "active") await book.pause(id, by);
      if (paused === false && state === "paused") await book.resume(id, by);
      return isChanged || paused === undefined ? book.change(id, wanted as Partial<WantedTask>, by) : book.find(id);
    },
    remove: async (given) => book.remove((await changeable(given)).id, await maker()),
    run: async (given) => book.run((await changeable(given)).id, await maker()),
  });
}

function thingOf(task: Task | undefined): GroupThing {
  return { group: task?.group.name, lineage: task?.lineage };
}
