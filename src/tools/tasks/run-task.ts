import * as z from "zod";

import { defineTool } from "../define-tool.ts";
import { taskId } from "./task-words.ts";

export const runTask = defineTool({
  name: "run_task",
  description: "Run a task once now, besides the times at which it is due.",
  input: z.strictObject({ id: taskId }),
  runs: "host",
  risk: "low",
  timeoutSeconds: 30,
  activity: { doing: "starting a task" },
  needs: ["tasks"],
  right: "schedule",
  run: async ({ id }, { tasks }) => `Task ${(await tasks.run(id)).id} runs; its answer goes to the chat.`,
});
