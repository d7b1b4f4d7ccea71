import * as z from "zod";

import type { TestedServer, TestedTool } from "../../domain/sandbox/mcp-server.ts";
import { risks } from "../../domain/rights/policy.ts";
import { defineOperation } from "../../operations/definition/define-operation.ts";
import { list, name, nothing } from "../../operations/definition/schemas.ts";

/** An MCP server of config.yaml, as it is in the running host. */
const mcpServerView = z.strictObject({
  name: z.string(),
  kind: z.enum(["stdio", "remote"]),
  groups: list(z.string()).describe("Groups that name it"),
  state: z.enum(["closed", "opening", "open", "failed"]).describe("closed: it was not needed lately"),
  reason: z.string().optional().describe("Why it cannot be reached"),
});

export type McpServerView = z.infer<typeof mcpServerView>;

const testedTool = z.strictObject({
  server: z.string(),
  name: z.string().describe("As its server calls it"),
  risk: z.enum(risks),
  state: z.enum(["ok", "changed", "refused"]),
  reason: z.string().optional(),
});

const testedServer = z.strictObject({
  name: z.string(),
  version: z.string(),
  protocol: z.string(),
  pingMs: z.number(),
  tools: list(testedTool),
});

/** The part that knows the MCP servers of a running host. */
export interface McpNeeds {
  readonly mcp: {
    list(): Promise<readonly McpServerView[]>;
    /** Rejects with `not_found`, or why it cannot be used. */
    test(server: string): Promise<TestedServer>;
    /** Rejects with `not_found`, or `conflict` if the tool does not have this description. */
    allow(server: string, tool: string, sha256: string): Promise<Pick<TestedTool, "server" | "name" | "state">>;
  };
}

export const listMcpServers = defineOperation<McpNeeds>()({
  name: "mcp.list",
  summary: "list MCP servers and their states",
  input: nothing,
  output: list(mcpServerView),
  may: { scope: "read" },
  effect: "none",
  rest: "GET /mcp",
  listAs: "servers",
  run: ({ mcp }) => mcp.list(),
});

export const testMcpServer = defineOperation<McpNeeds>()({
  name: "mcp.test",
  summary: "start an MCP server, list its tools, ping it and end it",
  input: z.strictObject({ name }),
  output: testedServer,
  may: { scope: "admin" },
  effect: "change",
  isLong: true,
  run: ({ mcp }, input) => mcp.test(input.name),
});

export const allowMcpTool = defineOperation<McpNeeds>()({
  name: "mcp.allow",
  summary: "use a tool whose description has changed",
  input: z.strictObject({ name, tool: z.string().min(1).max(128), sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  output: testedTool.pick({ server: true, name: true, state: true }),
  may: { scope: "admin" },
  effect: "change",
  run: ({ mcp }, input) => mcp.allow(input.name, input.tool, input.sha256),
});

/** Operations on MCP servers. */
export const mcpOperations = [listMcpServers, testMcpServer, allowMcpTool] as const;
