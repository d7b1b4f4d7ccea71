import { join } from "node:path";

import { findMcpServer, mcpServers } from "../../../../config/configured/mcp.ts";
import { mcp } from "../../../../config/schema/mcp.ts";
import type { McpServer, RemoteServer } from "../../../../domain/sandbox/mcp-server.ts";
import { AppError } from "../../../../lib/app-error.ts";
import { ownCommand } from "../../../../lib/process/own-command.ts";
import { readVersion } from "../../../../lib/process/version.ts";
import { Connection } from "../../../../abilities/mcp/connection/connection.ts";
import { LoginFolder } from "../../../../abilities/mcp/http/login-folder.ts";
import { openHttp } from "../../../../abilities/mcp/http/open-http.ts";
import { checkServer, type ServerPackageFolders } from "../../../../abilities/mcp/packages/server-packages.ts";
import type { CommandContext } from "../../context.ts";

export async function configNow(context: CommandContext) {
  return (await context.loadConfig()).config;
}

export function serverPackagesOf({ paths, environment }: CommandContext): ServerPackageFolders {
  const folder = join(paths.mcp, "packages");
  return { lock: paths.mcpLock, folder, variables: environment.variables, now: Date.now };
}

export function loginsOf({ paths }: CommandContext): LoginFolder {
  return new LoginFolder(paths.mcpLogins);
}

/** A server of config.yaml. Throws `not_found`, with the name that was perhaps meant. */
export async function findServer(context: CommandContext, name: string): Promise<McpServer> {
  return findMcpServer(await configNow(context), name);
}

/** Parses a server's settings as config.yaml would. Throws `bad_input`. */
export function readSettings(name: string, value: unknown): McpServer {
  const parsed = mcp.safeParse({ servers: { [name]: value } });
  const [server] = parsed.success ? mcpServers({ mcp: parsed.data }) : [];
  if (server) return server;
  const [issue] = parsed.error?.issues ?? [];
  const where = issue?.path.slice(2).join(".") || name;
  const reason = issue?.code === "invalid_key" ? issue.issues[0]?.message : issue?.message;
  throw new AppError("bad_input", `The MCP server ${name} cannot be added: ${where}: ${reason ?? "no settings"}.`);
}

export interface ServerState {
  /** `missing`: package not installed. `changed`: package differs from its installation. `login`: login required. */
  readonly state: "ok" | "missing" | "changed" | "login";
  readonly reason?: string;
}

/** State of a server, without contacting it. */
export async function stateOf(context: CommandContext, server: McpServer): Promise<ServerState> {
  if (server.kind === "remote") {
    const login = await loginsOf(context).of(server.name, server.url).read();
    if (!login || login.tokens) return { state: "ok" };
    return { state: "login", reason: `it requires a login: ${ownCommand(`mcp login ${server.name}`)}` };
  }
  const found = await checkServer(server, serverPackagesOf(context));
  if (found.state === "changed") return { state: "changed", reason: found.reason };
  if (found.state === "missing") return { state: "missing", reason: "it is installed on first use" };
  return { state: "ok" };
}

/** Connects with a server at an address, as a turn does. */
export async function connectTo(
  context: CommandContext,
  server: RemoteServer,
  signal: AbortSignal,
): Promise<Connection> {
  return Connection.open({
    transport: await openHttp(server, { logins: loginsOf(context) }),
    client: { name: "crabpot", version: await readVersion(context.environment.checkout) },
    isRemote: true,
    onToolsChanged: () => undefined,
    onLog: () => undefined,
    signal,
  });
}
