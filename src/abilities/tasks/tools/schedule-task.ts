import * as z from "zod";

import { ofHost } from "../../../domain/rights/sourced.ts";
import { defineAbilityTool } from "../../../tools/define-tool.ts";
import { describeTask, mode, name, timingFields } from "./task-words.ts";
import type { TaskPort } from "./tasks-of-turn.ts";

export const scheduleTask = defineAbilityTool<TaskPort>()({
  name: "schedule_task",
  description:
    "Have yourself told something at a time; give one of at, every, cron. Your answer then goes to the chat; NO_REPLY says nothing.",
  input: z.strictObject({
    prompt: z
      .string()
      .min(1)
      .max(16_000)
      .describe("What you are told then, with all that you need to know: you may not remember this conversation."),
    ...timingFields,
    mode,
    name,
    group: z.string().max(64).optional().describe("Another group; only a main group may name one."),
  }),
  runs: "host",
  risk: ({ group }) => (group === undefined ? "low" : "medium"),
  timeoutSeconds: 30,
  activity: { doing: "scheduling a task", shows: "name" },
  right: "schedule",
  run: async ({ group, ...wanted }, { port: tasks }) =>
    ofHost`Scheduled: ${describeTask(await tasks.make(wanted, group))}`,
});
