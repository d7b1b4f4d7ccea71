import * as z from "zod";

import { defineTool } from "../define-tool.ts";

const id = z.string().min(1).max(32).describe("Such as agent-3.");

export const agentStatus = defineTool({
  name: "agent_status",
  description: "How your sub-agents stand: all of them, or one with what it has answered.",
  input: z.strictObject({ id: id.optional() }),
  runs: "host",
  risk: "low",
  timeoutSeconds: 30,
  activity: { doing: "looking after sub-agents" },
  needs: ["subAgents"],
  right: "supervise",
  run: async (input, { subAgents }) => subAgents.status(input.id),
});

export const agentMessage = defineTool({
  name: "agent_message",
  description: "Tell a sub-agent that works in the background something more.",
  input: z.strictObject({ id, text: z.string().min(1).max(8_000) }),
  runs: "host",
  risk: "low",
  timeoutSeconds: 30,
  activity: { doing: "writing to a sub-agent", shows: "id" },
  needs: ["subAgents"],
  right: "supervise",
  run: async (input, { subAgents }) => subAgents.message(input.id, input.text),
});

export const agentCancel = defineTool({
  name: "agent_cancel",
  description: "End a sub-agent that works in the background. What it has left is not handed over.",
  input: z.strictObject({ id }),
  runs: "host",
  risk: "low",
  timeoutSeconds: 30,
  activity: { doing: "ending a sub-agent", shows: "id" },
  needs: ["subAgents"],
  right: "supervise",
  run: async (input, { subAgents }) => subAgents.cancel(input.id),
});
