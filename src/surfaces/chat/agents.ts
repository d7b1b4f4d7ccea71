import { operationCommand } from "./operation-command.ts";

/** What sub-agents do; `stop` ends one, for whoever it works for or an admin. */
export const agents = operationCommand({
  name: "agents",
  help: "what my sub-agents do, or ends one of them",
  takes: "[stop ID]",
  needs: "guest",
  load: async () => (await import("../../operations/sub-agents/operations.ts")).subAgentOperations,
  around: ({ group }, services) => {
    if (!group.agents) return {};
    const names = group.agents.map((id) => services.agentNameOf(group, id));
    return { before: `Agents here: ${names.join(", ")}. What is for nobody in particular is for ${names[0]}.` };
  },
});
