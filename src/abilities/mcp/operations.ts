import * as z from "zod";

import { risks } from "../../domain/rights/policy.ts";
import { defineOperation } from "../../operations/definition/define-operation.ts";
import { operator } from "../../operations/approvals/approval-view.ts";
import { list, name, nothing } from "../../operations/definition/schemas.ts";
import type { ApprovalService } from "../../rights/approvals/approval-service.ts";
import type { ChangedDescriptions } from "../../rights/approvals/changed-descriptions.ts";
import type { McpService } from "./mcp-service.ts";
import { mcpServerView } from "./server-view.ts";

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
interface McpNeeds {
  readonly mcp: Pick<McpService, "allowForOperator" | "list" | "require" | "test">;
}

/** The parts that people's answers about changed descriptions go to. */
interface DescriptionNeeds extends McpNeeds {
  readonly changedDescriptions: Pick<ChangedDescriptions, "openFor">;
  readonly approvalService: Pick<ApprovalService, "answer" | "checkNow">;
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
  run: async ({ mcp }) => mcp.list(),
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

export const allowMcpTool = defineOperation<DescriptionNeeds>()({
  name: "mcp.allow",
  summary: "use a tool whose description has changed",
  input: z.strictObject({ name, tool: z.string().min(1).max(128), sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  output: testedTool.pick({ server: true, name: true, state: true }),
  may: { scope: "admin" },
  effect: "change",
  run: async ({ mcp, changedDescriptions, approvalService }, { name: server, tool, sha256 }) => {
    mcp.require(server);
    const code = await changedDescriptions.openFor(server, tool, sha256);
    const by = { allow: true, scope: "once", by: operator } as const;
    const answer = code === undefined ? undefined : await approvalService.answer({ code, ...by });
    if (answer?.outcome !== "written") {
      await mcp.allowForOperator(server, tool, sha256);
      approvalService.checkNow();
    }
    return { server, name: tool, state: "ok" as const };
  },
});

/** Operations on MCP servers. */
export const mcpOperations = [listMcpServers, testMcpServer, allowMcpTool] as const;
