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
 * Wrappers for programs that embed the host: tests fail or intercept calls. Not reachable from configuration or
 * environment.
 */
export interface Interception {
  store(store: Store): Store;
  audit(append: AppendToAudit): AppendToAudit;
  engine<Engine extends ContainerEngine>(engine: Engine): Engine;
  /** Wraps the launcher of containers. */
  launcher(launcher: Launcher): Launcher;
  mailbox(mailbox: Mailbox): Mailbox;
  channel<Kind extends Channel>(channel: Kind): Kind;
  /** Wraps the opener of MCP servers' containers. */
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
