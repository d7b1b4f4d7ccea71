import * as z from "zod";

import { joined, ofHost, sourced, type Sourced } from "../../../domain/rights/sourced.ts";
import type { Task } from "../../../domain/work/task.ts";
import { escapeText } from "../../../lib/text/markup.ts";
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
    return found.length === 0 ? ofHost`There are no tasks.` : joined(found.map(showTask), "\n");
  },
});

/** A line about it, and its prompt as material: somebody else may have written it. */
function showTask(task: Task): Sourced {
  const { lastRun, prompt, origin, lineage } = task;
  const ran = lastRun ? sourced(`, last run ${lastRun.state}`, []) : ofHost``;
  const words = sourced(JSON.stringify(escapeText(prompt)), [origin, ...lineage.origins]);
  return ofHost`${describeTask(task)}${ran}\n  <prompt>${words}</prompt>`;
}
