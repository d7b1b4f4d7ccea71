import * as z from "zod";

import { ofHost, sourced } from "../../../domain/rights/sourced.ts";
import { defineAbilityTool } from "../../../tools/define-tool.ts";
import { taskId } from "./task-words.ts";
import type { TaskPort } from "./tasks-of-turn.ts";

export const runTask = defineAbilityTool<TaskPort>()({
  name: "run_task",
  description: "Run a task once now, besides the times at which it is due.",
  input: z.strictObject({ id: taskId }),
  runs: "host",
  risk: "low",
  timeoutSeconds: 30,
  activity: { doing: "starting a task" },
  right: "schedule",
  run: async ({ id }, { port: tasks }) =>
    ofHost`Task ${sourced((await tasks.run(id)).id, [])} runs; its answer goes to the chat.`,
});
