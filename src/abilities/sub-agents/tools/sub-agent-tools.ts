import * as z from "zod";

import { defineAbilityTool } from "../../../tools/define-tool.ts";
import type { SubAgentPort } from "../sub-agent-port.ts";

const id = z.string().min(1).max(32).describe("Such as agent-3.");

export const statusOfAgents = defineAbilityTool<SubAgentPort>()({
  name: "agent_status",
  description: "How your sub-agents stand: all of them, or one with what it has answered.",
  input: z.strictObject({ id: id.optional() }),
  runs: "host",
  risk: "low",
  timeoutSeconds: 30,
  activity: { doing: "looking after sub-agents" },
  right: "supervise",
  run: async (input, { port }) => port.status(input.id),
});

export const messageAgent = defineAbilityTool<SubAgentPort>()({
  name: "agent_message",
  description: "Tell a sub-agent that works in the background something more.",
  input: z.strictObject({ id, text: z.string().min(1).max(8_000) }),
  runs: "host",
  risk: "low",
  timeoutSeconds: 30,
  activity: { doing: "writing to a sub-agent", shows: "id" },
  right: "supervise",
  run: async (input, { port }) => port.message(input.id, input.text),
});

export const cancelAgent = defineAbilityTool<SubAgentPort>()({
  name: "agent_cancel",
  description: "End a sub-agent that works in the background. What it has left is not handed over.",
  input: z.strictObject({ id }),
  runs: "host",
  risk: "low",
  timeoutSeconds: 30,
  activity: { doing: "ending a sub-agent", shows: "id" },
  right: "supervise",
  run: async (input, { port }) => port.cancel(input.id),
});
