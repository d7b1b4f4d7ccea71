import { join } from "node:path";

import type * as z from "zod";

import {
  configuredRisk,
  type McpServer,
  type RemoteServer,
  type StdioServer,
  type TestedServer,
} from "../../domain/sandbox/mcp-server.ts";
import type { Risk } from "../../domain/rights/policy.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { mcpConfig, type McpSettings } from "./config.ts";
import { logIn, type LogInOptions } from "./http/log-in.ts";
import { LoginFolder } from "./http/login-folder.ts";
import { connectOverHttp } from "./http/open-http.ts";
import { type ImportedServer, readImport } from "./import-block.ts";
import { type LockEntry, readMcpLock } from "./packages/lock-file.ts";
import {
  checkServer,
  installServer,
  type PackageState,
  removeServer,
  type ServerPackageFolders,
} from "./packages/server-packages.ts";
import { type ChangedTool, pinsOf } from "./pins/pins.ts";
import { testServer } from "./test-server.ts";
import { fullNameOf } from "./tools/listed-tool.ts";
import { callSeconds } from "./tools/server-tool.ts";

/** Placeholder for tools that are not known. */
export const anyTool = "*";

/** A tool of a server, as it is listed. */
export interface ToolRow {
  readonly server: string;
  /** Name; `*` when unknown. */
  readonly name: string;
  readonly risk: Risk;
  readonly state: "ok" | "changed" | "refused" | "unknown";
}

export interface ServerState {
  /** `missing`: package not installed. `changed`: package differs from its installation. `login`: login required. */
  readonly state: "ok" | "missing" | "changed" | "login";
  readonly reason?: string;
}

/** A package as it was installed for a server. */
export type InstalledPackage = Pick<LockEntry, "package" | "version" | "withScripts">;

/** Parses the section `mcp` of config.yaml. */
export function parseMcpSettings(value: unknown): z.ZodSafeParseResult<McpSettings> {
  return mcpConfig.top.mcp.safeParse(value);
}

interface McpHomeOptions {
  /** Paths in the home. */
  readonly paths: { readonly mcp: string; readonly mcpLock: string; readonly mcpLogins: string };
  /** Environment of the programs that fetch packages. */
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/** Returns the name of a server's tool for models, and the longest that a call of it takes. */
export function offeredAs(server: string, tool: string): { readonly name: string; readonly timeoutSeconds: number } {
  return { name: fullNameOf(server, tool), timeoutSeconds: callSeconds };
}

/** MCP servers in a home, as far as they need no running host: packages, logins, and what is known of their tools. */
export class McpHome {
  readonly #lock: string;
  readonly #logins: LoginFolder;
  readonly #packages: ServerPackageFolders;

  constructor({ paths, variables }: McpHomeOptions) {
    this.#lock = paths.mcpLock;
    this.#logins = new LoginFolder(paths.mcpLogins);
    this.#packages = { lock: paths.mcpLock, folder: join(paths.mcp, "packages"), variables, now: Date.now };
  }

  /** Returns the package that a server needs. Reads all of its files. */
  packageOf(server: StdioServer): Promise<PackageState> {
    return checkServer(server, this.#packages);
  }

  /** Returns the state of a server, without contacting it. */
  async stateOf(server: McpServer): Promise<ServerState> {
    if (server.kind === "remote") {
      const login = await this.#logins.of(server.name, server.url).read();
      if (!login || login.tokens) return { state: "ok" };
      return { state: "login", reason: `it requires a login: ${ownCommand(`mcp login ${server.name}`)}` };
    }
    const found = await this.packageOf(server);
    if (found.state === "changed") return { state: "changed", reason: found.reason };
    if (found.state === "missing") return { state: "missing", reason: "it is installed on first use" };
    return { state: "ok" };
  }

  /** Lists tools of servers as last seen. `refused`: not in their `tools` in config.yaml; `unknown`: never seen. */
  async toolsOf(servers: readonly McpServer[]): Promise<ToolRow[]> {
    const lock = await readMcpLock(this.#lock);
    return servers.flatMap((server) => toolRowsOf(server, pinsOf(lock, server.name)));
  }

  /** Lists tools of a server whose descriptions have changed since first use. */
  async changedTools(server: string): Promise<Pick<ChangedTool, "name" | "before" | "now">[]> {
    return Object.entries(pinsOf(await readMcpLock(this.#lock), server)).flatMap(([name, { changed, ...before }]) =>
      changed ? [{ name, before, now: changed }] : [],
    );
  }

  /** Reads the `mcpServers` block of another client. Throws `server_refused` or `bad_input` for what cannot be used. */
  readImport(source: string): ImportedServer[] {
    return readImport(source);
  }

  /** Installs what servers need, then makes the change; if that fails, what is new is removed again. */
  async install(
    servers: readonly McpServer[],
    change: () => Promise<void>,
  ): Promise<ReadonlyMap<string, InstalledPackage>> {
    const known = await readMcpLock(this.#lock);
    const installed = new Map<string, LockEntry>();
    try {
      for (const server of servers) {
        if (server.kind !== "stdio") continue;
        const entry = await installServer(server, this.#packages);
        if (entry) installed.set(server.name, entry);
      }
      await change();
      return installed;
    } catch (error) {
      for (const name of installed.keys())
        if (!Object.hasOwn(known.servers, name)) await removeServer(name, this.#packages);
      throw error;
    }
  }

  /** Removes a server's package and login; its data stays. */
  async remove(server: string): Promise<void> {
    await removeServer(server, this.#packages);
    await this.#logins.remove(server);
  }

  /** Connects with a server at an address, as a turn does, and lists what it offers. */
  async test(server: RemoteServer, version: string, signal: AbortSignal): Promise<TestedServer> {
    await using connection = await connectOverHttp(server, { logins: this.#logins }, { version, signal });
    return await testServer(connection, server, { signal });
  }

  /** Logs in at a server. `not-needed`: it asks for nothing. */
  logIn(options: Omit<LogInOptions, "logins">): Promise<"done" | "not-needed"> {
    return logIn({ ...options, logins: this.#logins });
  }
}

function toolRowsOf(server: McpServer, pins: ReturnType<typeof pinsOf>): ToolRow[] {
  const names = Object.keys(pins);
  const row = (tool: string, state: ToolRow["state"]): ToolRow => {
    const risk = configuredRisk(server, tool) ?? "medium";
    return { server: server.name, name: tool, risk, state };
  };
  const seen = names.map((tool) => {
    if (server.tools?.includes(tool) === false) return row(tool, "refused");
    return row(tool, pins[tool]?.changed ? "changed" : "ok");
  });
  const unseen = (server.tools ?? []).filter((tool) => !names.includes(tool)).map((tool) => row(tool, "unknown"));
  return seen.length + unseen.length > 0 ? [...seen, ...unseen] : [row(anyTool, "unknown")];
}
