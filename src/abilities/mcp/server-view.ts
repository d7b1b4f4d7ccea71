import * as z from "zod";

import { list } from "../../operations/definition/schemas.ts";

/** An MCP server of config.yaml, as it is in the running host. */
export const mcpServerView = z.strictObject({
  name: z.string(),
  kind: z.enum(["stdio", "remote"]),
  groups: list(z.string()).describe("Groups that name it"),
  state: z.enum(["closed", "opening", "open", "failed"]).describe("closed: it was not needed lately"),
  reason: z.string().optional().describe("Why it cannot be reached"),
});

export type McpServerView = z.infer<typeof mcpServerView>;
