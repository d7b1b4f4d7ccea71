import * as z from "zod";

import { defineAbilityTool } from "../../../tools/define-tool.ts";
import { describeTask } from "./task-words.ts";
import type { TaskPort } from "./tasks-of-turn.ts";

export const listTasks = defineAbilityTool<TaskPort>()({
  name: "list_tasks",
  description: "List the tasks of this group, with what is to be done and how the last run went.",
  input: z.strictObject({
    group: z.string().max(64).optional().describe("Another group; only a main group may name one."),
  }),
  runs: "host",
  risk: "low",
  timeoutSeconds: 30,
  activity: { doing: "looking at the tasks" },
  right: "schedule",
  run: async ({ group }, { port: tasks }) => {
    const found = await tasks.list(group);
    if (found.length === 0) return "There are no tasks.";
    return found
      .map(
        (task) =>
          `${describeTask(task)}${task.lastRun ? `, last run ${task.lastRun.state}` : ""}\n  ${JSON.stringify(task.prompt)}`,
      )
      .join("\n");
  },
});
