import type { FastifyInstance } from "fastify";

import { AppError } from "../../lib/app-error.ts";
import type { McpOperations } from "./mcp-view.ts";

/** Lists MCP servers as `crabpot mcp list` does, with how they are in this host. `desk`: undefined while the host is starting. */
export function addMcpRoutes(routes: FastifyInstance, desk: () => McpOperations | undefined): void {
  routes.get("/v1/mcp", async (_request, reply) => {
    const found = desk();
    if (!found) throw new AppError("no_host", "The host is starting.", { passing: true });
    return reply.send({ servers: await found.listMcpServers() });
  });
}
