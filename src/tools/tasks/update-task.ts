import * as z from "zod";

import { defineTool } from "../define-tool.ts";
import { describeTask, name, taskId, timingFields } from "./task-words.ts";
import { taskModes } from "../../domain/task.ts";

export const updateTask = defineTool({
  name: "update_task",
  description: "Change a task, pause it or let it go on. What you leave out stays as it is.",
  input: z.strictObject({
    id: taskId,
    prompt: z.string().min(1).max(16_000).optional(),
    ...timingFields,
    mode: z.enum(taskModes).optional(),
    name,
    paused: z.boolean().optional().describe("true pauses it, false lets it go on."),
  }),
  runs: "host",
  risk: "low",
  timeoutSeconds: 30,
  activity: { doing: "changing a task" },
  needs: ["tasks"],
  notIn: ["agent"],
  run: async ({ id, ...wanted }, { tasks }) => `Changed: ${describeTask(await tasks.change(id, wanted))}`,
});
