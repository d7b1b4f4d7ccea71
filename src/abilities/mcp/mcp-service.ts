import { join } from "node:path";

import type { Group } from "../../domain/chats/group.ts";
import type { McpServer, TestedServer } from "../../domain/sandbox/mcp-server.ts";
import { AppError } from "../../lib/app-error.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { quotedName } from "../../lib/text/plain-words.ts";
import type { HostTool } from "../../tools/define-tool.ts";
import type { ToolSource } from "../../tools/group-tools.ts";
import type { AbilityService } from "../define-ability.ts";
import type { McpSettings } from "./config.ts";
import type { McpAbilityNeeds, McpServiceNeeds } from "./mcp-needs.ts";
import { installedServers } from "./packages/lock-file.ts";
import { type ChangedTool, pendingChange, Pins } from "./pins/pins.ts";
import { recordNews } from "./record-news.ts";
import type { McpServerView } from "./server-view.ts";
import type { McpServers, ServerNews, ServerView } from "./servers.ts";

/** Maximum questions about changed tools at once. */
const mostAsked = 5;
/** Tools that are left out, in one line of the log. */
const mostNamed = 50;
/** Interval of notices about further ones. */
const noticeMs = 3_600_000;
/** Time in which a server with its package has begun. */
const testMs = 180_000;

/** Always the same list: tools are put together anew for another one. */
const noTools: readonly HostTool[] = [];

/** MCP servers and their tools. What works with them is loaded when a turn begins in a group that has one. */
export class McpService implements AbilityService {
  readonly toolSource: ToolSource;
  readonly #needs: McpServiceNeeds;
  readonly #settings: () => McpSettings;
  /** Time of the last notice about changed tools, by server. */
  readonly #told = new Map<string, number>();
  #loading: Promise<McpServers> | undefined;
  /** Once they are loaded. */
  #servers: McpServers | undefined;

  constructor(needs: McpAbilityNeeds, settings: () => McpSettings) {
    const { paths, variables, installed, clock, logger } = needs;
    const packages = { lock: paths.mcpLock, folder: join(paths.mcp, "packages"), variables, now: () => clock.now() };
    this.#needs = { ...needs, programs: { folder: paths.mcp, packages, installed: () => installed.look(), logger } };
    installed.follow("mcp", () => installedServers(paths.mcpLock));
    this.#settings = settings;
    this.toolSource = {
      toolsOf: (group) => this.#toolsOf(group),
      // While its container is started.
      warm: (group) => void this.#toolsOf(group),
      whyMissing: (group, name) => this.#servers?.whyMissing(group, name),
    };
  }

  settingsChanged(): void {
    this.#servers?.settingsChanged(this.#needs.groups.list());
  }

  /** Lists the servers of config.yaml with their states; none of them is opened for it. */
  list(): McpServerView[] {
    return this.#needs.mcpServers().map(({ name, kind }) => {
      const groups = this.#groupsWith(name);
      const views = groups.flatMap((group) => this.#servers?.view(group) ?? []);
      const state = stateOf(views.filter(({ server }) => server === name));
      return { name, kind, groups: groups.map((group) => group.name), ...state };
    });
  }

  /** Returns a server of config.yaml. Throws AppError `not_found`. */
  require(name: string): McpServer {
    return this.#needs.findMcpServer(name);
  }

  /** Connects with a server, for one of its groups, and lists its tools. */
  async test(name: string): Promise<TestedServer> {
    const server = this.require(name);
    const servers = await this.#load();
    const signal = AbortSignal.timeout(testMs);
    if (server.kind === "remote" || server.scope === "shared") return servers.test(server, undefined, signal);
    const [group] = this.#groupsWith(server.name);
    if (group) return servers.test(server, group, signal);
    // Where nobody has it yet, it is tried by itself.
    return servers.test({ ...server, scope: "shared", folder: "none" }, undefined, signal);
  }

  /** Accepts a tool's present description for the operator. Rejects with `conflict` if it is another. */
  async allowForOperator(server: string, tool: string, sha256: string): Promise<void> {
    const data = { server, name: tool, sha256 };
    await this.#needs.publish({ type: "mcp.allowed", actor: "operator", data });
    if (await this.allow(server, tool, sha256)) return;
    const message = `The description of ${tool} of ${server} has changed again, or the tool is missing.`;
    throw new AppError("conflict", message, { fix: ownCommand(`mcp tools ${server}`) });
  }

  /** Accepts a tool's present description if it has this hash; false when it has another. */
  async allow(server: string, tool: string, sha256: string): Promise<boolean> {
    return (await this.#load()).allow(server, tool, sha256);
  }

  /** Returns a tool's changed description that nobody has allowed yet; undefined: none. */
  pendingOf(server: string, tool: string): ReturnType<typeof pendingChange> {
    return pendingChange(this.#needs.paths.mcpLock, server, tool);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#loading?.catch(() => undefined))?.[Symbol.asyncDispose]();
  }

  #groupsWith(server: string): readonly Group[] {
    const { groups, mcpServersOf } = this.#needs;
    return groups.list().filter((group) => mcpServersOf(group.name).some(({ name }) => name === server));
  }

  async #toolsOf(group: Group): Promise<readonly HostTool[]> {
    if (this.#needs.mcpServersOf(group.name).length === 0) return noTools;
    try {
      return await (this.#servers ?? (await this.#load())).toolsOf(group);
    } catch (error) {
      this.#needs.logger.error({ err: error, group: group.name }, "the tools of MCP servers could not be looked at");
      return noTools;
    }
  }

  #load(): Promise<McpServers> {
    return (this.#loading ??= this.#open());
  }

  async #open(): Promise<McpServers> {
    const [{ McpServers: Servers }, { openServer }] = await Promise.all([
      import("./servers.ts"),
      import("./open-server.ts"),
    ]);
    const { paths, mcpServersOf, clock, logger } = this.#needs;
    this.#servers = new Servers({
      serversOf: mcpServersOf,
      open: (server, group, listen) => openServer(this.#needs, { server, group, ...listen }),
      pins: new Pins(paths.mcpLock),
      mostTools: () => this.#settings().maxTools,
      onCut: (group, left) =>
        logger.warn(
          { group, left: left.slice(0, mostNamed), more: Math.max(0, left.length - mostNamed) },
          "MCP servers have more tools than a turn may have; these are left out: raise mcp.maxTools, or choose by tools of the servers",
        ),
      idleMs: () => this.#settings().idleMinutes * 60_000,
      tell: (server, group, news) => this.#tell(server, group, news),
      clock,
    });
    return this.#servers;
  }

  async #tell({ name: server }: McpServer, group: Group | undefined, news: ServerNews): Promise<void> {
    const { askAboutTools, tellOperator } = this.#needs;
    await recordNews(this.#needs, { server, group: group?.name, news });
    if (news.kind !== "changed") return;
    const changed = news.changed.map((tool) => ({ ...tool, server }));
    await askAboutTools({ tools: changed.slice(0, mostAsked), group: group?.name });
    const more = changed.slice(mostAsked);
    if (more.length > 0 && this.#isTimeToTell(server)) tellOperator(changeNotice(server, more));
  }

  #isTimeToTell(server: string): boolean {
    const now = this.#needs.clock.monotonic();
    if (now - (this.#told.get(server) ?? -noticeMs) < noticeMs) return false;
    this.#told.set(server, now);
    return true;
  }
}

/** State of a server: the worst one where each group has its own. */
function stateOf(views: readonly ServerView[]): Pick<McpServerView, "reason" | "state"> {
  const failed = views.find(({ state }) => state === "failed");
  if (failed) return { state: "failed", ...(failed.fault !== undefined && { reason: failed.fault }) };
  const states = views.map(({ state }) => state);
  return { state: states.find((state) => state === "open") ?? states.find((state) => state === "opening") ?? "closed" };
}

function changeNotice(server: string, changed: readonly ChangedTool[]): string {
  const names = changed.slice(0, 10).map(({ name }) => quotedName(name));
  const more = changed.length > names.length ? ` and ${changed.length - names.length} more` : "";
  return (
    `Tool descriptions of the MCP server ${server} changed since first use, ` +
    `so these tools are no longer offered: ${names.join(", ")}${more}. ` +
    `To compare and allow them: ${ownCommand(`mcp allow ${server}`)}`
  );
}
