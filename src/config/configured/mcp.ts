import type { GroupNetwork } from "../../domain/sandbox/egress.ts";
import { serverOf } from "../../sandbox/servers/server-owner.ts";
import type { RemoteServer, McpServer, StdioServer } from "../../domain/sandbox/mcp-server.ts";
import { AppError } from "../../lib/app-error.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { nearest } from "../../lib/text/nearest.ts";
import type { ConfigFault } from "../faults.ts";
import { missing } from "../checks/missing.ts";
import { toNetwork } from "../resolve/network.ts";
import type { Config } from "../schema/config.ts";

/** Every server of config.yaml. */
export function mcpServers({ mcp: { servers } }: Pick<Config, "mcp">): readonly McpServer[] {
  return Object.entries(servers).map(([name, server]): McpServer => {
    const { tools, risk, forms } = server;
    if ("url" in server) {
      const { url, headers, allowPrivate } = server;
      return { kind: "remote", name, tools, forms, risk, url, headers, allowPrivate } satisfies RemoteServer;
    }
    const { command = "", args, env, image, scope, folder, sampling } = server;
    const network = toNetwork(server.network, server.secrets);
    return {
      kind: "stdio",
      name,
      tools,
      forms,
      risk,
      command,
      args,
      env,
      image,
      network,
      scope,
      folder,
      sampling,
    } satisfies StdioServer;
  });
}

/** The server of this name. Throws `not_found`, with the name that was perhaps meant. */
export function findMcpServer(config: Pick<Config, "mcp">, name: string): McpServer {
  const all = mcpServers(config);
  const found = all.find((server) => server.name === name);
  if (found) return found;
  const near = nearest(
    name,
    all.map((server) => server.name),
  );
  const hint = near === undefined ? "" : ` Did you mean ${near}?`;
  throw new AppError("not_found", `There is no MCP server ${JSON.stringify(name)} in config.yaml.${hint}`, {
    fix: ownCommand("mcp list"),
  });
}

/** Checks that groups name existing servers. */
export function checkMcp({ mcp: { servers }, groups }: Config): ConfigFault[] {
  const known = Object.keys(servers);
  return Object.entries(groups).flatMap(([group, { mcp }]) =>
    mcp.flatMap((name, index) =>
      Object.hasOwn(servers, name) ? [] : [missing(["groups", group, "mcp", index], "MCP server", name, known)],
    ),
  );
}

/**
 * Returns where the owner of a server's container may connect to: nowhere, if it is not configured. Undefined when the
 * owner is a group.
 */
export function networkOfServer(
  config: Pick<Config, "mcp">,
  owner: string,
  plugins?: { networkOf(owner: string): GroupNetwork | undefined },
): GroupNetwork | undefined {
  const ofServer = serverOf(owner);
  if (!ofServer) return undefined;
  const ofPlugin = plugins?.networkOf(owner);
  if (ofPlugin) return ofPlugin;
  const server = ofServer.kind === "mcp" ? mcpServers(config).find(({ name }) => name === ofServer.server) : undefined;
  // A server that is no longer configured may connect to nothing.
  return server?.kind === "stdio" ? server.network : { allow: [], allowPrivate: [], reflects: [], secrets: [] };
}

/** Returns the name of the first group that has this server; empty where none has. */
export function firstGroupWith({ groups }: Pick<Config, "groups">, server: string): string {
  return Object.entries(groups).find(([, { mcp }]) => mcp.includes(server))?.[0] ?? "";
}
