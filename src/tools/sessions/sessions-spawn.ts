import * as z from "zod";

import { ofHost, sourced } from "../../domain/rights/sourced.ts";
import { defineTool } from "../define-tool.ts";

export const sessionsSpawn = defineTool({
  name: "sessions_spawn",
  description:
    "Begin another conversation that does something with the folders of its agent. Do not wait: its answer comes to you later as <work>.",
  input: z.strictObject({
    task: z.string().trim().min(1).max(16_000).describe("What it is to do. It sees nothing of your conversation."),
    agent: z.string().min(1).max(64).optional().describe("Another agent of the group."),
    group: z.string().min(1).max(64).optional().describe("Another group; only a main group may name one."),
  }),
  runs: "host",
  risk: "medium",
  timeoutSeconds: 30,
  activity: { doing: "beginning another session", shows: "task" },
  needs: ["sessions"],
  right: "begin",
  run: async (input, { sessions }) =>
    ofHost`Begun as session ${sourced(await sessions.begin(input), [])}. Its answer comes as work of its own.`,
});
