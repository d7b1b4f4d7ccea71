import { findMcpServer, mcpServers } from "../../../../config/configured/mcp.ts";
import type { McpServer } from "../../../../domain/sandbox/mcp-server.ts";
import { AppError } from "../../../../lib/app-error.ts";
import { McpHome, parseMcpSettings } from "../../../../abilities/mcp/offline.ts";
import type { CommandContext } from "../../context.ts";

export async function configNow(context: CommandContext) {
  return (await context.loadConfig()).config;
}

/** Opens what the home has of MCP servers. */
export function mcpHomeOf({ paths, environment }: CommandContext): McpHome {
  return new McpHome({ paths, variables: environment.variables });
}

/** A server of config.yaml. Throws `not_found`, with the name that was perhaps meant. */
export async function findServer(context: CommandContext, name: string): Promise<McpServer> {
  return findMcpServer(await configNow(context), name);
}

/** Parses a server's settings as config.yaml would. Throws `bad_input`. */
export function readSettings(name: string, value: unknown): McpServer {
  const parsed = parseMcpSettings({ servers: { [name]: value } });
  const [server] = parsed.success ? mcpServers({ mcp: parsed.data }) : [];
  if (server) return server;
  const [issue] = parsed.error?.issues ?? [];
  const where = issue?.path.slice(2).join(".") || name;
  const reason = issue?.code === "invalid_key" ? issue.issues[0]?.message : issue?.message;
  throw new AppError("bad_input", `The MCP server ${name} cannot be added: ${where}: ${reason ?? "no settings"}.`);
}
