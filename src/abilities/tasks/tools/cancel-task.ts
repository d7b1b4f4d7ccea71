import * as z from "zod";

import { ofHost, sourced } from "../../../domain/rights/sourced.ts";
import { defineAbilityTool } from "../../../tools/define-tool.ts";
import { taskId } from "./task-words.ts";
import type { TaskPort } from "./tasks-of-turn.ts";

export const cancelTask = defineAbilityTool<TaskPort>()({
  name: "cancel_task",
  description: "Remove a task for good. A run that has begun goes on.",
  input: z.strictObject({ id: taskId }),
  runs: "host",
  risk: "low",
  timeoutSeconds: 30,
  activity: { doing: "removing a task" },
  right: "schedule",
  run: async ({ id }, { port: tasks }) => ofHost`Removed: ${sourced((await tasks.remove(id)).id, [])}.`,
});
