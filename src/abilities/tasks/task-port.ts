import { unknownGroup } from "../../domain/chats/group.ts";
import { leastGapMs, type Task } from "../../domain/work/task.ts";
import { ToolError } from "../../protocol/tools.ts";
import { inWordsForModel } from "../../tools/words-for-model.ts";
import type { CallingTurn } from "../define-ability.ts";
import type { TaskMaker, WantedTask } from "./task-book.ts";
import type { TaskService } from "./task-service.ts";
import type { TaskPort } from "./tools/tasks-of-turn.ts";

/** Maximum number of tasks that one turn may make: one that makes more is going round in circles. */
const madePerTurn = 10;

/** The tasks that a turn may see and change. Throws ToolError. */
export function taskPort({ book, groups, lineageOf, now }: TaskService, { group: own, turn }: CallingTurn): TaskPort {
  const named = (wanted: string | undefined) => {
    if (wanted === undefined || wanted === own.name) return own;
    if (!own.main) throw new ToolError(`Only a main group may name another group than its own, "${own.name}".`);
    const group = groups.byName(wanted);
    if (group) return group;
    const known = groups.list().map(({ name }) => name);
    throw unknownGroup(wanted, known);
  };
  const visible = async (id: string): Promise<Task> => {
    const task = await book.find(id).catch(() => undefined);
    if (task && (own.main || task.group.name === own.name)) return task;
    throw new ToolError(`There is no task "${id}". Use list_tasks to list them.`);
  };
  const isAsked = turn.cause === "message" || turn.cause === "webhook";
  const maker = async (): Promise<TaskMaker> => ({
    actor: "agent",
    lineage: await lineageOf(own, turn),
    earliest: isAsked ? undefined : now() + leastGapMs,
  });
  return inWordsForModel<TaskPort>({
    make: async (wanted, group) => {
      const target = named(group);
      const made = (await book.list(target.name)).filter(({ createdAt }) => createdAt >= turn.startedAt);
      if (made.length >= madePerTurn) throw new ToolError(`At most ${madePerTurn} tasks can be made in one turn.`);
      return book.make(target, wanted, await maker());
    },
    list: async (group) => {
      const target = named(group);
      return book.list(own.main && group === undefined ? undefined : target.name);
    },
    change: async (given, { paused, ...wanted }) => {
      const { id, state } = await visible(given);
      const by = await maker();
      const isChanged = Object.values(wanted).some((value) => value !== undefined);
      if (paused === true && state === "active") await book.pause(id, by);
      if (paused === false && state === "paused") await book.resume(id, by);
      return isChanged || paused === undefined ? book.change(id, wanted as Partial<WantedTask>, by) : book.find(id);
    },
    remove: async (given) => book.remove((await visible(given)).id, await maker()),
    run: async (given) => book.run((await visible(given)).id, await maker()),
  });
}
