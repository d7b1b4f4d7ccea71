import { configuredRisk, type McpServer } from "../../domain/sandbox/mcp-server.ts";
import type { Risk } from "../../domain/rights/policy.ts";
import type { pinsOf } from "./pins/pins.ts";

/** Placeholder for tools that are not known. */
export const anyTool = "*";

/** A tool of a server, as it is listed. */
export interface ToolRow {
  readonly server: string;
  /** Name; `*` when unknown. */
  readonly name: string;
  readonly risk: Risk;
  readonly state: "ok" | "changed" | "refused" | "unknown";
}

/** Known tools of a server. `refused`: not allowed by `tools` in config.yaml; `unknown`: never seen. */
export function toolRowsOf(server: McpServer, pins: ReturnType<typeof pinsOf>): ToolRow[] {
  const names = Object.keys(pins);
  const row = (tool: string, state: ToolRow["state"]): ToolRow => {
    const risk = configuredRisk(server, tool) ?? "medium";
    return { server: server.name, name: tool, risk, state };
  };
  const seen = names.map((tool) => {
    if (server.tools?.includes(tool) === false) return row(tool, "refused");
    return row(tool, pins[tool]?.changed ? "changed" : "ok");
  });
  const unseen = (server.tools ?? []).filter((tool) => !names.includes(tool)).map((tool) => row(tool, "unknown"));
  if (seen.length + unseen.length > 0) return [...seen, ...unseen];
  return [{ server: server.name, name: anyTool, risk: configuredRisk(server, "*") ?? "medium", state: "unknown" }];
}
