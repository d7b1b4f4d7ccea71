import { heartbeatFile } from "../../domain/work/heartbeat.ts";
import { isAtLeast } from "../../domain/people/role.ts";
import type { Task } from "../../domain/work/task.ts";
import { AppError, isPassing } from "../../lib/app-error.ts";
import { plainSentence, quotedName } from "../../lib/text/plain-words.ts";
import type { ChatCommand, GivenCommand, TaskServices } from "./command.ts";

const actions = ["pause", "resume", "remove", "run"] as const;
const done = { pause: "is paused", resume: "goes on", remove: "is removed", run: "runs now" } as const;
const shown = 50;

/** Shows what the group's agent does at certain times; people who may decide about that. */
export const tasks: ChatCommand = {
  name: "tasks",
  help: "shows what I do at certain times; admins: /tasks pause|resume|remove|run ID",
  takes: "[pause|resume|remove|run ID]",
  needs: "member",
  run: async (given, services) => {
    const [word = "", id = ""] = (given.pending.argument ?? "").trim().split(/\s+/);
    if (word === "") return { text: await list(given, services) };
    const action = actions.find((known) => known === word);
    if (action === undefined || id === "") return { text: "Write: /tasks, or /tasks pause|resume|remove|run ID." };
    if (!isAtLeast(given.asker.role, "admin")) return { text: `/tasks ${action} needs an admin.` };
    try {
      const task = await services.actOnTask(given, id, action);
      return { text: `The task ${task.id} ${quotedName(task.name, "")} ${done[action]}.` };
    } catch (error) {
      if (!(error instanceof AppError) || isPassing(error)) throw error;
      return { text: plainSentence(error.message) };
    }
  },
};

async function list({ group }: GivenCommand, services: TaskServices): Promise<string> {
  const { tasksOf, nextHeartbeatOf, showTime } = services;
  const live = (await tasksOf(group.name)).filter(({ state }) => state !== "done").slice(0, shown);
  const beat = nextHeartbeatOf(group.name);
  const lines = live.map(
    (task) => `${task.id} ${quotedName(task.name, "unnamed")}: ${describe(task, (time) => showTime(time, group))}`,
  );
  if (lines.length === 0) lines.push("There are no tasks.");
  if (beat !== undefined)
    lines.push(
      `I also look at ${heartbeatFile} by myself: next ${showTime(beat, group)}. In a main group, /set ${group.name} heartbeat off ends that.`,
    );
  return lines.join("\n");
}

function describe({ state, reason, next, lastRun }: Task, showTime: (time: number) => string): string {
  const last = lastRun === undefined ? "" : `, last run ${lastRun.state}`;
  if (state === "paused") return `paused${reason === undefined ? "" : ` (${plainSentence(reason)})`}${last}`;
  return `next ${next === undefined ? "never" : showTime(next)}${last}`;
}
