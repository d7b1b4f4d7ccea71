import type { Group } from "../../domain/chats/group.ts";
import { type McpServer, serverToolSeparator, type TestedServer } from "../../domain/sandbox/mcp-server.ts";
import type { HostTool } from "../../tools/define-tool.ts";
import type { McpConnection } from "./connection/connection.ts";
import type { Elicit } from "./connection/wishes.ts";
import { KeptConnection, type ConnectionState, type Lists } from "./connection/kept-connection.ts";
import type { ChangedTool, Pins } from "./pins/pins.ts";
import { checkTools, type RefusedTool } from "./tools/listed-tool.ts";
import { testServer } from "./test-server.ts";
import { readTool, promptTool } from "./tools/resource-tools.ts";
import { serverTool } from "./tools/server-tool.ts";

/** Time that a turn waits for a server at first contact. */
const firstWaitMs = 10_000;

/** Event about a server, for records. */
export type ServerNews =
  | {
      readonly kind: "opened";
      readonly tools: number;
      readonly refused: readonly RefusedTool[];
      readonly isCut: boolean;
      readonly version: string;
      readonly protocol: string;
    }
  | { readonly kind: "failed" | "closed"; readonly reason: string }
  | { readonly kind: "changed"; readonly changed: readonly ChangedTool[] };

export interface McpServersOptions {
  /** Those that a group is to have, by the settings that hold now; the same list as long as they do. */
  readonly serversOf: (group: string) => readonly McpServer[];
  /** `group`: undefined for a server that groups share. */
  readonly open: (
    server: McpServer,
    group: Group | undefined,
    listen: { readonly onToolsChanged: () => void; readonly elicit: Elicit; readonly signal: AbortSignal },
  ) => Promise<McpConnection>;
  readonly pins: Pick<Pins, "judge" | "allow">;
  /** Tools of servers in one turn, at most. */
  readonly mostTools: () => number;
  /** A group's servers have more: these are left out, until its servers have other tools. */
  readonly onCut: (group: string, left: readonly string[]) => void;
  readonly idleMs: () => number;
  /** Awaited before what it tells of has effect. */
  readonly tell: (server: McpServer, group: Group | undefined, news: ServerNews) => Promise<void>;
  readonly clock: ConstructorParameters<typeof KeptConnection>[0]["clock"];
}

/** A server as it is used by one group, or by all that share it. */
interface Used {
  /** Settings in config.yaml when it was opened. */
  readonly settings: string;
  readonly kept: KeptConnection;
  tools: readonly HostTool[];
  hashes: ReadonlyMap<string, string>;
  changed: readonly ChangedTool[];
  hasResources: boolean;
  hasPrompts: boolean;
  /** True after the first contact: nobody waits for its lists. */
  isKnown: boolean;
}

/** A server as shown to people. */
export interface ServerView {
  readonly server: string;
  readonly state: ConnectionState;
  readonly fault: string | undefined;
}

interface Joined {
  readonly lists: readonly (readonly HostTool[])[];
  readonly most: number;
  readonly tools: readonly HostTool[];
}

const none: readonly HostTool[] = [];

/** The servers of all groups: a source of tools. A server is opened when a turn of a group that has it begins. */
export class McpServers implements AsyncDisposable {
  readonly #options: McpServersOptions;
  /** By server and, where each group has its own, group. */
  readonly #used = new Map<string, Used>();
  readonly #joined = new Map<string, Joined>();
  readonly #closing = new Set<Promise<void>>();

  constructor(options: McpServersOptions) {
    this.#options = options;
  }

  /** Tools of this group's servers. Waits briefly, and only for servers without any contact yet. */
  async toolsOf(group: Group): Promise<readonly HostTool[]> {
    const servers = this.#options.serversOf(group.name);
    if (servers.length === 0) return none;
    const used = servers.map((server) => this.#use(server, group));
    await Promise.all(used.map(({ kept, isKnown }) => kept.ready(isKnown ? 0 : firstWaitMs)));
    return this.#join(group, used);
  }

  /** Reason why an offered tool is unavailable; undefined when it belongs to no server. */
  whyMissing(group: Pick<Group, "name">, tool: string): string | undefined {
    const [name = ""] = tool.split(serverToolSeparator, 1);
    if (!tool.includes(serverToolSeparator)) return undefined;
    const server = this.#options.serversOf(group.name).find((one) => one.name === name);
    if (!server) return undefined;
    const used = this.#used.get(keyOf(server, group));
    if (used?.changed.some(({ fullName }) => fullName === tool) === true)
      return `What "${tool}" says of itself has changed, and nobody has allowed that yet. Do without it.`;
    if (used?.kept.fault !== undefined)
      return `The server ${name} cannot be reached: ${used.kept.fault}. Do without it.`;
    if (used?.kept.state === "opening")
      return `The server ${name} is still starting. Try again later, or do without it.`;
    const isCut = used?.tools.some((one) => one.name === tool) === true;
    if (isCut) return `"${tool}" is one tool too many: only ${this.#options.mostTools()} are offered. Do without it.`;
    return `The server ${name} does not have "${tool}" now. Do without it.`;
  }

  /** Servers used since the host started. */
  view(group: Pick<Group, "name">): readonly ServerView[] {
    return this.#options.serversOf(group.name).map((server): ServerView => {
      const used = this.#used.get(keyOf(server, group));
      return {
        server: server.name,
        state: used?.kept.state ?? "closed",
        fault: used?.kept.fault,
      };
    });
  }

  /**
   * Connects with a server once more, for one of its groups, and looks at what it has. What is new of its tools is
   * pinned.
   */
  async test(server: McpServer, group: Group | undefined, signal: AbortSignal): Promise<TestedServer> {
    const { open, pins } = this.#options;
    await using connection = await open(server, group, { onToolsChanged: () => undefined, elicit: nobody, signal });
    return await testServer(connection, server, { pins, signal });
  }

  /** Accepts a tool's present description if it has this hash, and reopens its server; false when it has another. */
  async allow(server: string, tool: string, sha256: string): Promise<boolean> {
    if (!(await this.#options.pins.allow(server, tool, sha256))) return false;
    for (const [key, used] of this.#used) if (used.kept.server.name === server) this.#drop(key, used);
    await Promise.all(this.#closing);
    return true;
  }

  /** Closes servers that no group uses, or whose settings changed. */
  settingsChanged(groups: readonly Group[]): void {
    const wanted = new Map(
      groups.flatMap((group) =>
        this.#options.serversOf(group.name).map((server) => [keyOf(server, group), JSON.stringify(server)] as const),
      ),
    );
    for (const [key, used] of this.#used) if (wanted.get(key) !== used.settings) this.#drop(key, used);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const [key, used] of this.#used) this.#drop(key, used);
    await Promise.all(this.#closing);
  }

  #use(server: McpServer, group: Group): Used {
    const key = keyOf(server, group);
    const known = this.#used.get(key);
    if (known?.kept.server === server) return known;
    const settings = JSON.stringify(server);
    if (known?.settings === settings) return known;
    if (known) this.#drop(key, known);
    const used = this.#create(server, isShared(server) ? undefined : group, settings);
    this.#used.set(key, used);
    return used;
  }

  #create(server: McpServer, group: Group | undefined, settings: string): Used {
    const { open, tell, idleMs, clock } = this.#options;
    const used: Used = {
      settings,
      kept: new KeptConnection({
        server,
        clock,
        idleMs,
        open: (onToolsChanged, signal) =>
          open(server, group, { onToolsChanged, elicit: (...asked) => used.kept.elicit(...asked), signal }),
        listed: (lists, connection) => this.#take(used, group, { lists, connection }),
        failed: (reason) => void tell(server, group, { kind: "failed", reason }).catch(() => undefined),
        ended: (reason) => void tell(server, group, { kind: "closed", reason }).catch(() => undefined),
      }),
      tools: none,
      hashes: new Map(),
      changed: [],
      hasResources: false,
      hasPrompts: false,
      isKnown: false,
    };
    return used;
  }

  /** Everything new at once, when all of it is on record. */
  async #take(
    used: Used,
    group: Group | undefined,
    { lists, connection }: { readonly lists: Lists; readonly connection: McpConnection },
  ): Promise<void> {
    const { pins, tell } = this.#options;
    const { server } = used.kept;
    const checked = checkTools(server, lists.tools.items);
    const { tools, changed, refused } = await pins.judge(server.name, checked.tools);
    const all = [...checked.refused, ...refused];
    const { isCut } = lists.tools;
    const { serverVersion: version, protocol } = connection;
    await tell(server, group, { kind: "opened", tools: tools.length, refused: all, isCut, version, protocol });
    const fresh = changed.filter(({ now }) => !used.changed.some((before) => before.now.sha256 === now.sha256));
    if (fresh.length > 0) await tell(server, group, { kind: "changed", changed: fresh });
    const hashes = new Map(tools.map(({ name, sha256 }) => [name, sha256]));
    const before = new Map(used.tools.map((tool) => [tool.name, tool]));
    used.tools = tools.map((tool) => {
      const known = used.hashes.get(tool.name) === tool.sha256 ? before.get(tool.fullName) : undefined;
      return known ?? serverTool(tool, used.kept, () => used.hashes.get(tool.name) === tool.sha256);
    });
    Object.assign(used, { hashes, changed, isKnown: true });
    Object.assign(used, { hasResources: lists.hasResources, hasPrompts: lists.hasPrompts });
  }

  #join(group: Group, used: readonly Used[]): readonly HostTool[] {
    const most = this.#options.mostTools();
    const lists = used.map(({ tools }) => tools);
    const known = this.#joined.get(group.name);
    if (known?.most === most && isSame(known.lists, lists)) return known.tools;
    const kept = (has: (one: Used) => boolean): KeptConnection[] => used.filter(has).map((one) => one.kept);
    const [withResources, withPrompts] = [kept((one) => one.hasResources), kept((one) => one.hasPrompts)];
    const all = lists.flat();
    const left = all.slice(most).map(({ name }) => name);
    if (left.length > 0) this.#options.onCut(group.name, left);
    const tools = [
      ...all.slice(0, most),
      ...(withResources.length > 0 ? [readTool(withResources)] : []),
      ...(withPrompts.length > 0 ? [promptTool(withPrompts)] : []),
    ];
    this.#joined.set(group.name, { lists, most, tools });
    return tools;
  }

  #drop(key: string, used: Used): void {
    this.#used.delete(key);
    const closing = used.kept[Symbol.asyncDispose]().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}

const nobody: Elicit = () => Promise.reject(new Error("nobody is asked while a server is tested"));

function isShared(server: McpServer): boolean {
  return server.kind === "remote" || server.scope === "shared";
}

function keyOf(server: McpServer, group: Pick<Group, "name">): string {
  return JSON.stringify(isShared(server) ? [server.name] : [server.name, group.name]);
}

function isSame(these: readonly unknown[], those: readonly unknown[]): boolean {
  return these.length === those.length && these.every((one, index) => one === those[index]);
}
