import type { Logger } from "pino";

import type { Group } from "../../domain/chats/group.ts";
import type { McpServer } from "../../domain/sandbox/mcp-server.ts";
import type { Publish } from "../../domain/events/event.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { ConfiguredModels } from "../../models/configured-models.ts";
import type { InstalledRecord } from "../../records/installed-record.ts";
import type { ChangedDescription } from "../../rights/approvals/changed-descriptions.ts";
import type { OpenStdio } from "../../sandbox/servers/server-streams.ts";
import type { ProgramOptions } from "./packages/server-program.ts";

/** Tools of MCP servers whose descriptions have changed since first use. */
interface ChangedTools {
  readonly tools: readonly ChangedDescription[];
  /** The group whose server it is; undefined for a server that groups share. */
  readonly group: string | undefined;
}

export interface McpAbilityNeeds {
  readonly paths: { readonly mcp: string; readonly mcpLock: string; readonly mcpLogins: string };
  /** Environment of the programs that fetch packages. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Version of crabpot. */
  readonly version: string;
  readonly groups: { readonly list: () => readonly Group[] };
  /** Servers of config.yaml. */
  readonly mcpServers: () => readonly McpServer[];
  /** Throws AppError `not_found` for a server that config.yaml does not name. */
  readonly findMcpServer: (name: string) => McpServer;
  /** Servers that a group names; the same list as long as the settings hold. */
  readonly mcpServersOf: (group: string) => readonly McpServer[];
  readonly servers: { readonly open: OpenStdio };
  readonly models: Pick<ConfiguredModels, "complete">;
  readonly installed: Pick<InstalledRecord, "follow" | "look">;
  /** Asks people about tools whose descriptions have changed. */
  readonly askAboutTools: (changed: ChangedTools) => Promise<void>;
  readonly tellOperator: (text: string) => unknown;
  readonly publish: Publish;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface McpServiceNeeds extends McpAbilityNeeds {
  readonly programs: ProgramOptions;
}
