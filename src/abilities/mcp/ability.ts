import { defineAbility } from "../define-ability.ts";
import { mcpConfig } from "./config.ts";
import type { McpAbilityNeeds } from "./mcp-needs.ts";

/** Gives agents the tools of servers that speak the Model Context Protocol. */
export const mcp = defineAbility<McpAbilityNeeds>()({
  name: "mcp",
  config: mcpConfig,
  start: async (needs, settings) => {
    const { McpService } = await import("./mcp-service.ts");
    return new McpService(needs, () => settings().mcp);
  },
});
