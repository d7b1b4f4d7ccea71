import { Option } from "commander";
import type { Command } from "commander";
import type * as z from "zod";

import { missedRules, taskModes } from "../../../domain/work/task.ts";
import { shorten } from "../../../lib/text/visible.ts";
import type { TaskView } from "../../../operations/tasks/task-view.ts";
import type { CommandContext } from "../context.ts";
import { addLeaf } from "../context.ts";
import { formatTime } from "../formats.ts";
import {
  addTask,
  listTasks,
  pauseTask,
  removeTask,
  resumeTask,
  runTask,
  taskHistory,
} from "../../../operations/tasks/operations.ts";
import { parseCount } from "../parse-count.ts";

const shownChars = 60;

const actions = {
  run: { operation: runTask, summary: "run a task once now, besides the times at which it is due", done: "runs" },
  pause: { operation: pauseTask, summary: "let a task rest until it is resumed", done: "is paused" },
  resume: {
    operation: resumeTask,
    summary: "resume a paused task; runs that were missed are not repeated",
    done: "goes on",
  },
  remove: { operation: removeTask, summary: "remove a task and its history", done: "is removed" },
};

export function addTasksCommand(program: Command, context: CommandContext): void {
  const tasks = program.command("tasks").description("have agents do something at certain times");
  addListCommand(tasks, context);
  addAddCommand(tasks, context);
  for (const action of ["run", "pause", "resume", "remove"] as const) {
    const { operation, summary, done } = actions[action];
    addLeaf(tasks, `${action} <id>`, `${summary}; the beginning of its id is enough`).action(
      async (id: string, _options: object, command: Command) => {
        const task = await context.call(operation, { id });
        const output = context.outputOf(command);
        if (output.json) return output.object(task);
        return output.line(`Task ${task.id} of group ${task.group} ${done}.`);
      },
    );
  }
  addHistoryCommand(tasks, context);
}

function addListCommand(tasks: Command, context: CommandContext): void {
  addLeaf(tasks, "list", "tasks in the order of making, and when they are due next")
    .option("--group <name>", "only this group")
    .action(async ({ group }: { group?: string }, command: Command) => {
      context.outputOf(command).items(
        await context.read(listTasks, { group }),
        [
          { title: "id", of: ({ id }) => id },
          { title: "group", of: ({ group: of }) => of },
          { title: "name", of: ({ name }) => name },
          { title: "when", of: describeTiming },
          { title: "next (UTC)", of: ({ next }) => shownTime(next) },
          { title: "state", of: ({ state }) => state },
          { title: "last run", of: ({ lastRun }) => lastRun?.state },
          { title: "failed", of: ({ failures }) => (failures > 0 ? failures : undefined) },
          { title: "prompt", of: ({ prompt }) => shorten(prompt, shownChars) },
        ],
        "There are no tasks.",
      );
    });
}

function addAddCommand(tasks: Command, context: CommandContext): void {
  addLeaf(
    tasks,
    "add",
    "give the agent of a group something to do at certain times; its answer goes to the group's chat",
  )
    .requiredOption("--group <name>", "whose agent")
    .requiredOption("--prompt <text>", "what it is told each time")
    .option("--name <name>", "by which people know it")
    .option("--at <time>", "once: 2026-01-15T09:00:00, by the clock of the zone unless it has an offset")
    .option("--every <span>", "again and again: 1m, 2h, 1d")
    .option("--cron <pattern>", 'five fields, such as "0 9 * * 1-5"')
    .option("--timezone <zone>", "an IANA zone, such as Europe/Paris")
    .addOption(
      new Option("--mode <mode>", "in a conversation of its own for each run, or in the group's").choices(taskModes),
    )
    .addOption(
      new Option("--missed <rule>", "what becomes of times that passed while the host was off").choices(missedRules),
    )
    .action(async (wanted: z.input<(typeof addTask)["input"]>, command: Command) => {
      const { group, prompt, name, at, every, cron, timezone, mode, missed } = wanted;
      const task = await context.call(addTask, { group, prompt, name, at, every, cron, timezone, mode, missed });
      const output = context.outputOf(command);
      if (output.json) return output.object(task);
      return output.line(`Task ${task.id} of group ${group}: next at ${task.next ?? "no time"}.`);
    });
}

function addHistoryCommand(tasks: Command, context: CommandContext): void {
  addLeaf(tasks, "history <id>", "what became of the times at which a task was due, newest first")
    .option("--limit <count>", "how many", parseCount, 20)
    .action(async (id: string, { limit }: { limit: number }, command: Command) => {
      context.outputOf(command).items(
        await context.read(taskHistory, { id, limit }),
        [
          { title: "due (UTC)", of: ({ due }) => formatTime(Date.parse(due)) },
          { title: "state", of: ({ state }) => state },
          { title: "attempts", of: ({ attempts }) => attempts },
          { title: "ended (UTC)", of: ({ endedAt }) => shownTime(endedAt) },
          { title: "turn", of: ({ turn }) => turn ?? undefined },
          { title: "reason", of: ({ reason }) => reason ?? undefined },
        ],
        "It was not due yet.",
      );
    });
}

function describeTiming({ at, every, cron, timezone }: TaskView): string {
  if (at !== undefined) return `at ${at}`;
  return every === undefined ? `${cron ?? ""} (${timezone})` : `every ${every}`;
}

function shownTime(iso: string | null): string | undefined {
  return iso === null ? undefined : formatTime(Date.parse(iso));
}
