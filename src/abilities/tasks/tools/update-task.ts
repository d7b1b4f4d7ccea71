import * as z from "zod";

import { ofHost } from "../../../domain/rights/sourced.ts";
import { defineAbilityTool } from "../../../tools/define-tool.ts";
import { describeTask, name, taskId, timingFields, undescribed } from "./task-words.ts";
import { taskModes } from "../../../domain/work/task.ts";
import type { TaskPort } from "./tasks-of-turn.ts";

export const updateTask = defineAbilityTool<TaskPort>()({
  name: "update_task",
  description: "Change a task: fields as in schedule_task; what you leave out stays as it is.",
  input: z.strictObject({
    id: taskId,
    prompt: z.string().min(1).max(16_000).optional(),
    ...undescribed(timingFields),
    mode: z.enum(taskModes).optional(),
    name: undescribed({ name }).name,
    paused: z.boolean().optional().describe("true pauses it, false lets it go on."),
  }),
  runs: "host",
  risk: "low",
  timeoutSeconds: 30,
  activity: { doing: "changing a task" },
  right: "schedule",
  run: async ({ id, ...wanted }, { port: tasks }) => ofHost`Changed: ${describeTask(await tasks.change(id, wanted))}`,
});
