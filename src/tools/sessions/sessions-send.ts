import * as z from "zod";

import { ofHost } from "../../domain/rights/sourced.ts";
import { defineTool } from "../define-tool.ts";

export const sessionsSend = defineTool({
  name: "sessions_send",
  description:
    "Give another conversation's agent something to do. Do not wait: its answer comes to you later as <work>, and begins its own turn.",
  input: z.strictObject({
    session: z.string().min(1).max(64).describe("Id, as sessions_list shows it."),
    text: z.string().trim().min(1).max(16_000).describe("What it is to do. It sees nothing of your conversation."),
  }),
  runs: "host",
  risk: "medium",
  timeoutSeconds: 30,
  activity: { doing: "writing to another session" },
  needs: ["sessions"],
  run: async ({ session, text }, { sessions }) => {
    await sessions.send(session, text);
    return ofHost`Sent. The answer comes as work of its own.`;
  },
});
