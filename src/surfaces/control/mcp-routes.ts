import * as z from "zod";

import { name, type Route, route } from "./route.ts";

/** MCP servers of the running host. */
export const mcpRoutes: readonly Route<never>[] = [
  route({
    method: "POST",
    path: "/mcp/:name/test",
    operation: "mcp.test",
    parameters: z.strictObject({ name }),
    run: (host, parameters) => host.testMcpServer(parameters.name),
  }),
  route({
    method: "POST",
    path: "/mcp/:name/allow",
    operation: "mcp.allow",
    parameters: z.strictObject({ name, tool: z.string().min(1).max(128), sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
    run: (host, parameters) => host.allowMcpTool(parameters.name, parameters.tool, parameters.sha256),
  }),
];
