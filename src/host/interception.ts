import type { AuditEntry } from "../records/audit/event-records.ts";
import type { Channel } from "../channels/channel.ts";
import type { OpenStdio } from "../sandbox/servers/server-streams.ts";
import type { ContainerEngine } from "../sandbox/engine/engine.ts";
import type { Mailbox } from "../sandbox/pool/hot-container.ts";
import type { Launcher } from "../sandbox/pool/launch.ts";
import type { Store } from "../stores/contract/store.ts";

/** Puts an entry into the audit log; resolves when it is on disk. */
export type AppendToAudit = (entry: AuditEntry) => Promise<void>;

/**
 * What the host acts through, as a program that embeds it wants to have it: a test puts itself between, to see what
 * happens when a call fails or is the last one. Nothing in the configuration or the environment leads here.
 */
export interface Interception {
  store(store: Store): Store;
  audit(append: AppendToAudit): AppendToAudit;
  engine<Engine extends ContainerEngine>(engine: Engine): Engine;
  /** What the pool gets its containers from. */
  launcher(launcher: Launcher): Launcher;
  mailbox(mailbox: Mailbox): Mailbox;
  channel<Kind extends Channel>(channel: Kind): Kind;
  /** How the containers of MCP servers are opened. */
  servers(open: OpenStdio): OpenStdio;
}

export const noInterception: Interception = {
  store: (store) => store,
  audit: (append) => append,
  engine: (engine) => engine,
  launcher: (launcher) => launcher,
  mailbox: (mailbox) => mailbox,
  channel: (channel) => channel,
  servers: (open) => open,
};
