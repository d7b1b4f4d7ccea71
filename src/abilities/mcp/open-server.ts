import type { Group } from "../../domain/chats/group.ts";
import type { McpServer } from "../../domain/sandbox/mcp-server.ts";
import type { OpenStdio } from "../../sandbox/servers/server-streams.ts";
import { type ConnectionOptions, McpConnection } from "./connection/connection.ts";
import { openStreams } from "./connection/open-streams.ts";
import { createSampling } from "./connection/sampling.ts";
import type { Elicit } from "./connection/wishes.ts";
import { LoginFolder } from "./http/login-folder.ts";
import { openHttp } from "./http/open-http.ts";
import type { McpServiceNeeds } from "./mcp-needs.ts";
import { programOf } from "./packages/server-program.ts";

/** A server that a group uses, or all groups that share it. */
interface WantedServer {
  readonly server: McpServer;
  /** Undefined where groups share it. */
  readonly group: Group | undefined;
  readonly onToolsChanged: () => void;
  readonly elicit: Elicit;
  readonly signal: AbortSignal;
}

/** Opens a connection with a server, at its address or in a new container. */
export async function openServer(needs: McpServiceNeeds, wanted: WantedServer): Promise<McpConnection> {
  const { server, group, onToolsChanged, elicit, signal } = wanted;
  const { version, logger, servers } = needs;
  const about = { mcp: server.name, ...(group && { group: group.name }) };
  const common: Omit<ConnectionOptions, "isRemote" | "transport" | "whyClosed" | "wishes"> = {
    client: { name: "crabpot", version },
    onToolsChanged,
    onLog: ({ level, text }) => logger.info({ ...about, level, text }, "an MCP server says"),
    signal,
  };
  if (server.kind === "remote") {
    const transport = await openHttp(server, { logins: new LoginFolder(needs.paths.mcpLogins) });
    return McpConnection.open({ ...common, transport, isRemote: true, wishes: { elicit } });
  }
  const mayAsk = group !== undefined && server.sampling;
  const wishes = { elicit, ...(mayAsk && { sample: createSampling(needs, group) }) };
  const program: Parameters<OpenStdio>[0]["program"] = (until) => programOf(needs.programs, server, until);
  const streams = await servers.open({ server, program }, group, signal);
  const onNoise = (line: string): void => logger.warn({ ...about, line }, "an MCP server writes invalid messages");
  return openStreams(streams, onNoise, { ...common, wishes });
}
