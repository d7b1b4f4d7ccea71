import { timeZoneFault } from "../../config/checks/time-zone-name.ts";
import type { TellOperator } from "../../delivery/operator-notices.ts";
import type { TaskServices } from "../../surfaces/chat/command.ts";
import { memberActor } from "../../domain/people/actor.ts";
import { unknownGroup } from "../../domain/chats/group.ts";
import { memberKey } from "../../domain/people/person.ts";
import { isAtLeast } from "../../domain/people/role.ts";
import { agentsOf } from "../../domain/turns/session.ts";
import { leastGapMs, type Task, type TaskGroup } from "../../domain/work/task.ts";
import type { GroupRegistry } from "../../intake/chats/group-registry.ts";
import { AppError } from "../../lib/app-error.ts";
import { zoneClock } from "../../lib/time/zone-clock.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { ToolError } from "../../protocol/tools.ts";
import { Scheduler } from "../../abilities/tasks/scheduler.ts";
import { TaskBook, type TaskMaker, type WantedTask } from "../../abilities/tasks/task-book.ts";
import { principalOf } from "../../rights/people/principal.ts";
import type { TaskPort } from "../../tools/tasks/task-port.ts";
import type { TurnScope } from "../../turns/turn-options.ts";
import type { AppContext } from "../context.ts";

/** Tasks that a turn may make: one that makes more is going round in circles. */
const madePerTurn = 10;

/** What is scheduled, and what people do with it. */
export interface Tasks {
  readonly scheduler: Scheduler;
  readonly book: TaskBook;
}

export function createTasks(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: {
    readonly groups: GroupRegistry;
    readonly workAdded: () => void;
    readonly deliver: () => void;
    readonly tell: TellOperator;
  },
): Tasks {
  const { live, store, publish, clock, logger } = context;
  const { groups, workAdded, deliver, tell } = options;
  const groupNow = ({ name, channel, chat, agent }: TaskGroup): TaskGroup | undefined => {
    const group = groups.byName(name);
    if (group?.channel !== channel || group.chat !== chat) return undefined;
    const isThere = agent !== undefined && agentsOf(group).includes(agent);
    return { name, channel, chat, agent: isThere ? agent : group.agent };
  };
  const scheduler = stack.use(
    new Scheduler({
      tasks: store.tasks,
      groupNow,
      workAdded,
      deliver,
      // Why a turn failed may say more than members are to know.
      wordsFor: ({ task, turn }) =>
        turn && groups.byName(task.group.name)?.main
          ? `${ownCommand(`turns show ${turn.id.slice(0, 8)}`)} says why.`
          : undefined,
      tellOperator: (text) => tell({ text }),
      publish,
      clock,
      logger,
    }),
  );
  const book = new TaskBook({
    tasks: store.tasks,
    groupNow,
    timeZone: (group) => live.groupOf({ name: group }).timeZone,
    zoneFault: timeZoneFault,
    changed: () => scheduler.changed(),
    workAdded,
    publish,
    clock,
  });
  return { scheduler, book };
}

/** The tasks that a turn may see and change. */
export function taskPort(context: AppContext, { book }: Tasks, groups: GroupRegistry, scope: TurnScope): TaskPort {
  const own = scope.group;
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
    throw new ToolError(`There is no task "${id}". list_tasks shows those that there are.`);
  };
  const isAsked = scope.turn.cause === "message" || scope.turn.cause === "webhook";
  const maker = async (): Promise<TaskMaker> => ({
    actor: "agent",
    ...(await principalOf({ origins: context.store.origins, roleOf: context.roles.roleOf }, own, scope.turn)),
    earliest: isAsked ? undefined : context.clock.now() + leastGapMs,
  });
  return inWordsForModel({
    make: async (wanted, group) => {
      const target = named(group);
      const made = (await book.list(target.name)).filter(({ createdAt }) => createdAt >= scope.turn.startedAt);
      if (made.length >= madePerTurn) throw new ToolError(`At most ${madePerTurn} tasks may be made in one turn.`);
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

/** What people do with tasks in a chat: with those of its group only. */
export function taskServices(
  { live }: AppContext,
  { book }: Tasks,
  nextHeartbeatOf: TaskServices["nextHeartbeatOf"],
): TaskServices {
  return {
    nextHeartbeatOf,
    tasksOf: (group) => book.list(group),
    actOnTask: async ({ group, pending: { message }, asker }, given, action) => {
      const { id, group: of } = await book.find(given);
      if (of.name !== group.name) throw new AppError("not_found", `There is no task "${given}" in this group.`);
      const { role, origin } = { role: asker.role, origin: asker.role };
      const requester = memberKey({ channel: message.channel, id: message.sender.id });
      const by: TaskMaker = { actor: memberActor(message.sender.id), role, origin, origins: [], requester };
      return action === "run" ? book.run(id, by, message.receivedAt) : book[action](id, by);
    },
    showTime: (time, { name }) => {
      const zone = live.groupOf({ name }).timeZone;
      return `${zoneClock(zone).at(time).slice(0, 16)} ${zone}`;
    },
  };
}

function inWordsForModel(port: TaskPort): TaskPort {
  return {
    make: telling(port.make),
    list: telling(port.list),
    change: telling(port.change),
    remove: telling(port.remove),
    run: telling(port.run),
  };
}

/** What the host refuses is told to the model; what is wrong with the host is not. */
function telling<Given extends readonly unknown[], Result>(
  method: (...given: Given) => Promise<Result>,
): (...given: Given) => Promise<Result> {
  return async (...given) => {
    try {
      return await method(...given);
    } catch (error) {
      if (!(error instanceof AppError) || !["bad_input", "conflict", "not_found"].includes(error.code)) throw error;
      const words = [error.message, error.fix && `Fix: ${error.fix}.`].filter(Boolean).join(" ");
      throw new ToolError(words, { cause: error });
    }
  };
}
