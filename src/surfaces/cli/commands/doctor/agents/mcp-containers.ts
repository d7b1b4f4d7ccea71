import { configuredGroups } from "../../../../../config/configured/groups.ts";
import { resolveGroup } from "../../../../../config/resolve-group.ts";
import { mcpServers } from "../../../../../config/configured/mcp.ts";
import type { Config } from "../../../../../config/schema/config.ts";
import type { McpServer, StdioServer } from "../../../../../domain/sandbox/mcp-server.ts";
import { AppError } from "../../../../../lib/app-error.ts";
import { ownCommand } from "../../../../../lib/process/own-command.ts";
import type { McpHome } from "../../../../../abilities/mcp/offline.ts";
import { openEngine } from "../../../../../sandbox/engine/catalog.ts";
import type { CommandContext } from "../../../context.ts";
import { configNow, mcpHomeOf } from "../../mcp/servers.ts";
import { bad, type CheckResult, good, warning } from "../check.ts";

/**
 * Whether what each MCP server runs is there and what it was, and whether its environment holds what should be no part
 * of it.
 */
export async function checkMcpContainers(context: CommandContext): Promise<CheckResult[]> {
  const config = await configNow(context);
  const servers = mcpServers(config).filter((server) => server.kind === "stdio");
  const home = mcpHomeOf(context);
  const results: CheckResult[] = [];
  for (const server of servers) {
    results.push(await checkPackage(server, home), ...checkEnvironment(server));
  }
  const logins = await checkLogins(home, mcpServers(config));
  return [...results, ...(await checkImages(context, servers)), ...logins, ...(await checkToolCount(home, config))];
}

/**
 * Checks the number of tools, as far as known, without contacting servers. Groups with the same servers are reported
 * together.
 */
async function checkToolCount(home: McpHome, config: Config): Promise<CheckResult[]> {
  const most = config.mcp.maxTools;
  const groupsOf = Map.groupBy(configuredGroups(config), ({ name }) => JSON.stringify(namesOf(config, name)));
  const results: CheckResult[] = [];
  for (const groups of groupsOf.values()) {
    let count = 0;
    const left: string[] = [];
    for (const server of serversOf(config, groups[0]?.name ?? "")) {
      const rows = await home.toolsOf([server]);
      const seen = rows.filter(({ state }) => state === "ok" || state === "changed").length;
      const over = Math.min(seen, Math.max(0, count + seen - most));
      if (over > 0) left.push(`${over} of ${server.name}`);
      count += seen;
    }
    const names = groups.map(({ name }) => name).join(", ");
    const detail = `The MCP servers of ${names} had ${count} tools; a turn has at most ${most}, so up to ${left.join(", ")} are left out.`;
    if (left.length > 0)
      results.push(warning("mcp", detail, "Raise mcp.maxTools, or list the needed tools in mcp.servers.<name>.tools."));
  }
  return results;
}

function namesOf(config: Config, group: string): readonly string[] {
  return serversOf(config, group).map(({ name }) => name);
}

function serversOf(config: Config, group: string): readonly McpServer[] {
  return resolveGroup(config, { name: group }).mcpServers;
}

/** No server is asked: it is known from when one was called last. */
async function checkLogins(home: McpHome, servers: readonly McpServer[]): Promise<CheckResult[]> {
  const found: CheckResult[] = [];
  for (const server of servers) {
    if (server.kind !== "remote") continue;
    const { state } = await home.stateOf(server);
    if (state === "login")
      found.push(warning("mcp", `${server.name} requires a login.`, ownCommand(`mcp login ${server.name}`)));
  }
  return found;
}

async function checkPackage(server: StdioServer, home: McpHome): Promise<CheckResult> {
  const { name } = server;
  try {
    const found = await home.packageOf(server);
    if (found.state === "none") return good("mcp-containers", `${name}: nothing to install.`);
    if (found.state === "missing") return good("mcp-containers", `${name}: its package is installed on first use.`);
    const which = `${found.entry.package} ${found.entry.version}`;
    if (found.state === "ok") return good("mcp-containers", `${name}: ${which} is unchanged since its installation.`);
    return bad("mcp-containers", `${name}: ${which} is not started: ${found.reason}.`, ownCommand(`mcp add ${name}`));
  } catch (error) {
    // What the schema lets pass is said here only.
    if (error instanceof AppError) return bad("mcp-containers", error.message, error.fix);
    throw error;
  }
}

const secretName = /key|token|secret|passw|credential/i;

/** Names only: whoever sees the report should not see the values. */
function checkEnvironment({ name, env }: StdioServer): CheckResult[] {
  const names = Object.keys(env);
  const telling = names.filter((each) => secretName.test(each) && (env[each] ?? "").length >= 8);
  if (names.length === 0) return [];
  if (telling.length === 0) return [good("mcp-containers", `${name}: its environment has ${names.join(", ")}.`)];
  const detail = `${name}: the server can read possible secrets in its environment: ${telling.join(", ")}.`;
  return [
    warning(
      "mcp",
      detail,
      `Move it from mcp.servers.${name}.env to mcp.servers.${name}.secrets, so that the host adds it.`,
    ),
  ];
}

async function checkImages({ environment }: CommandContext, servers: readonly StdioServer[]): Promise<CheckResult[]> {
  const wanted = servers.flatMap(({ name, image }) => (image === undefined ? [] : [{ name, image }]));
  if (wanted.length === 0) return [];
  await using engine = await openEngine({ env: environment.variables, homeFolder: environment.userHome });
  const results: CheckResult[] = [];
  for (const { name, image } of wanted) {
    if (await engine.image(image)) results.push(good("mcp-containers", `${name}: its image ${image} exists.`));
    else results.push(bad("mcp-containers", `${name}: its image ${image} is missing.`, `docker pull ${image}`));
  }
  return results;
}
