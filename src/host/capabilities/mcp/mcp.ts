import type { Group } from "../../../domain/chats/group.ts";
import type { ChangedDescriptions } from "../../../rights/approvals/changed-descriptions.ts";
import type { TellOperator } from "../../../delivery/operator-notices.ts";
import type { McpServer, TestedServer } from "../../../domain/sandbox/mcp-server.ts";
import { ownCommand } from "../../../lib/process/own-command.ts";
import type { Signal } from "../../../lib/signal.ts";
import { quotedName } from "../../../lib/text/plain-words.ts";
import type { ChangedTool } from "../../../abilities/mcp/pins/pins.ts";
import type { McpServers, ServerNews, ServerView } from "../../../abilities/mcp/servers.ts";
import type { Servers } from "../../../sandbox/servers/servers.ts";
import type { ServerStreams } from "../../../sandbox/servers/server-streams.ts";
import type { Connection, ConnectionOptions } from "../../../abilities/mcp/connection/connection.ts";
import type { Elicit } from "../../../abilities/mcp/connection/wishes.ts";
import type { HostTool } from "../../../tools/define-tool.ts";
import type { ToolSource } from "../../../tools/group-tools.ts";
import type { ProviderSet } from "../../../models/routes/provider-set.ts";
import type { AppContext } from "../../context.ts";
import { createSampling } from "./mcp-sampling.ts";

/** Tools of MCP servers whose descriptions have changed since first use. */
export interface ChangedTools {
  readonly tools: Parameters<ChangedDescriptions["ask"]>[0];
  /** The group whose server it is; undefined for a server that groups share. */
  readonly group: string | undefined;
}

/** Ways to connect to servers. */
export interface ServerOpeners {
  readonly servers: Pick<Servers, "open">;
  /** Providers for servers' sampling requests. */
  readonly providers: ProviderSet;
  /** Emits tools whose descriptions have changed, which people are asked about. */
  readonly changed: Signal<ChangedTools>;
}

export interface Mcp {
  readonly source: ToolSource;
  /** The servers of a group as they are now; none of them is opened for it. */
  readonly view: (group: Pick<Group, "name">) => readonly ServerView[];
  /** `group`: one that has the server; undefined where groups share it. */
  readonly allow: (server: string, tool: string, sha256: string) => Promise<boolean>;
  readonly test: (server: McpServer, group: Group | undefined, signal: AbortSignal) => Promise<TestedServer>;
}

/** Maximum questions about changed tools at once. */
const mostAsked = 5;
/** Tools that are left out, in one line of the log. */
const mostNamed = 50;
/** Interval of notices about further ones. */
const noticeMs = 3_600_000;

/** Always the same list: tools are put together anew for another one. */
const noTools: readonly HostTool[] = [];

/** MCP servers and their tools. Nothing of it is loaded before a turn begins in a group that has one. */
export function createMcp(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: ServerOpeners & {
    readonly groups: { readonly list: () => readonly Group[] };
    readonly tell: TellOperator;
  },
): Mcp {
  const { live, logger } = context;
  const serversOf = (group: string): readonly McpServer[] => live.groupOf({ name: group }).mcpServers;
  let servers: McpServers | undefined;
  let loading: Promise<McpServers> | undefined;
  const load = (): Promise<McpServers> => {
    loading ??= openServers(context, { ...options, serversOf }).then((opened) => (servers = opened));
    return loading;
  };
  // They come later, and end with what was there when they could be asked for.
  stack.defer(async () => (await loading?.catch(() => undefined))?.[Symbol.asyncDispose]());
  live.onChange(() => servers?.settingsChanged(options.groups.list()));
  const toolsOf: ToolSource["toolsOf"] = async (group) => {
    if (serversOf(group.name).length === 0) return noTools;
    try {
      return await (servers ?? (await load())).toolsOf(group);
    } catch (error) {
      logger.error({ err: error, group: group.name }, "the tools of MCP servers could not be looked at");
      return noTools;
    }
  };
  return {
    source: {
      toolsOf,
      // While its container is started.
      warm: (group) => {
        if (serversOf(group.name).length > 0) void toolsOf(group);
      },
      whyMissing: (group, name) => servers?.whyMissing(group, name),
    },
    view: (group) => servers?.view(group) ?? [],
    test: async (...asked) => (await load()).test(...asked),
    allow: async (...asked) => (await load()).allow(...asked),
  };
}

async function openServers(
  context: AppContext,
  {
    serversOf,
    tell: tellOperator,
    ...openers
  }: ServerOpeners & { readonly serversOf: (group: string) => readonly McpServer[]; readonly tell: TellOperator },
): Promise<McpServers> {
  const [{ McpServers: Servers }, { Pins }] = await Promise.all([
    import("../../../abilities/mcp/servers.ts"),
    import("../../../abilities/mcp/pins/pins.ts"),
  ]);
  const { live, home, clock, logger } = context;
  const told = new Map<string, number>();
  const isTime = (server: string): boolean => {
    const now = clock.monotonic();
    if (now - (told.get(server) ?? -noticeMs) < noticeMs) return false;
    told.set(server, now);
    return true;
  };
  return new Servers({
    serversOf,
    open: (server, group, listen) => open(context, openers, { server, group, ...listen }),
    pins: new Pins(home.paths.mcpLock),
    mostTools: () => live.current.mcp.maxTools,
    onCut: (group, left) =>
      logger.warn(
        { group, left: left.slice(0, mostNamed), more: Math.max(0, left.length - mostNamed) },
        "MCP servers have more tools than a turn may have; these are left out: raise mcp.maxTools, or choose by tools of the servers",
      ),
    idleMs: () => live.current.mcp.idleMinutes * 60_000,
    tell: async (server, group, news) => {
      await tell(context, { server, group, news });
      if (news.kind !== "changed") return;
      const changed = news.changed.map((tool) => ({ ...tool, server: server.name }));
      await openers.changed.emit({ tools: changed.slice(0, mostAsked), group: group?.name });
      if (changed.length > mostAsked && isTime(server.name))
        tellOperator({ text: changeNotice(server.name, news.changed.slice(mostAsked)) });
    },
    clock,
  });
}

async function open(
  context: AppContext,
  openers: ServerOpeners,
  {
    server,
    group,
    onToolsChanged,
    elicit,
    signal,
  }: {
    readonly server: McpServer;
    readonly group: Group | undefined;
    readonly onToolsChanged: () => void;
    readonly elicit: Elicit;
    readonly signal: AbortSignal;
  },
): Promise<Connection> {
  const { version, logger, home, interception } = context;
  const openStdio = interception.servers((...given) => openers.servers.open(...given));
  const about = { mcp: server.name, ...(group && { group: group.name }) };
  const { openConnection } = await import("../../../abilities/mcp/connection/open-connection.ts");
  const common: Omit<ConnectionOptions, "transport" | "isRemote" | "whyClosed"> = {
    client: { name: "crabpot", version },
    onToolsChanged,
    onLog: ({ level, text }) => logger.info({ ...about, level, text }, "an MCP server says"),
    signal,
  };
  const onNoise = (line: string): void => logger.warn({ ...about, line }, "an MCP server writes invalid messages");
  if (server.kind === "stdio") {
    const mayAsk = group !== undefined && server.sampling;
    const wishes = { elicit, ...(mayAsk && { sample: createSampling(context, openers.providers, group) }) };
    const streams: ServerStreams = await openStdio(server, group, signal);
    return openConnection({ kind: "streams", streams, onNoise }, { ...common, wishes });
  }
  const [{ openHttp }, { LoginFolder }] = await Promise.all([
    import("../../../abilities/mcp/http/open-http.ts"),
    import("../../../abilities/mcp/http/login-folder.ts"),
  ]);
  const logins = new LoginFolder(home.paths.mcpLogins);
  return openConnection(
    { kind: "remote", transport: await openHttp(server, { logins }) },
    { ...common, wishes: { elicit } },
  );
}

async function tell(
  { publish, logger }: Pick<AppContext, "publish" | "logger">,
  {
    server: { name: server },
    group,
    news,
  }: { readonly server: McpServer; readonly group: Group | undefined; readonly news: ServerNews },
): Promise<void> {
  const about = { group: group?.name, actor: "host" } as const;
  switch (news.kind) {
    case "opened": {
      const { version, protocol, tools, refused, isCut: cut } = news;
      const data = { server, version, protocol, tools, refused: refused.slice(0, 20), cut };
      if (refused.length > 0 || cut) logger.warn({ ...data }, "not all tools of an MCP server are used");
      return publish({ type: "mcp.opened", ...about, data });
    }
    case "closed":
      return publish({ type: "mcp.closed", ...about, data: { server, reason: news.reason } });
    case "failed":
      logger.warn({ mcp: server, group: group?.name, reason: news.reason }, "an MCP server cannot be used for now");
      return publish({ type: "mcp.failed", ...about, data: { server, reason: news.reason } });
    case "changed": {
      const tools = news.changed.map(({ name, before, now }) => ({ name, before: before.sha256, sha256: now.sha256 }));
      return publish({ type: "mcp.changed", ...about, data: { server, tools } });
    }
  }
}

function changeNotice(server: string, changed: readonly ChangedTool[]): string {
  const names = changed.slice(0, 10).map(({ name }) => quotedName(name));
  const more = changed.length > names.length ? ` and ${changed.length - names.length} more` : "";
  return `Tool descriptions of the MCP server ${server} changed since first use, so these tools are no longer offered: ${names.join(", ")}${more}. To compare and allow them: ${ownCommand(`mcp allow ${server}`)}`;
}
