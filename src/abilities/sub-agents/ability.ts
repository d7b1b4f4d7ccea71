import { defineAbility } from "../define-ability.ts";
import type { SubAgentServiceNeeds } from "./sub-agent-service.ts";
import { spawnAgent } from "./tools/spawn-agent.ts";
import { cancelAgent, messageAgent, statusOfAgents } from "./tools/sub-agent-tools.ts";

/** Lets agents have others work for them. */
export const subAgents = defineAbility<SubAgentServiceNeeds>()({
  name: "subAgents",
  tools: [cancelAgent, messageAgent, statusOfAgents, spawnAgent],
  start: async (needs) => {
    const { SubAgentService } = await import("./sub-agent-service.ts");
    return new SubAgentService(needs);
  },
  portFor: (service, scope) => service.portFor(scope),
});
