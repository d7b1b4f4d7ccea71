import { operationCommand } from "../operation-command.ts";

/** Lists sub-agents; `stop` ends one, for the asker that it works for or an admin. */
export const agents = operationCommand({
  name: "agents",
  help: "sub-agents at work; stop one with /agents stop ID",
  takes: "[stop ID]",
  needs: "guest",
  load: async () => (await import("../../../abilities/sub-agents/operations.ts")).subAgentOperations,
  around: ({ group }, services) => {
    if (!group.agents) return {};
    const names = group.agents.map((id) => services.agentNameOf(group, id));
    return { before: `Agents here: ${names.join(", ")}. Messages without a mention go to ${names[0]}.` };
  },
});
