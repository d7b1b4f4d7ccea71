import * as z from "zod";

import { defineTool } from "../define-tool.ts";
import { taskId } from "./task-words.ts";

export const cancelTask = defineTool({
  name: "cancel_task",
  description: "Remove a task for good. A run that has begun goes on.",
  input: z.strictObject({ id: taskId }),
  runs: "host",
  risk: "low",
  timeoutSeconds: 30,
  activity: { doing: "removing a task" },
  needs: ["tasks"],
  right: "schedule",
  run: async ({ id }, { tasks }) => `Removed: ${(await tasks.remove(id)).id}.`,
});
