import type { Logger } from "pino";

import type { Channel } from "../channels/channel.ts";
import type { ChannelTraits } from "../channels/define-channel.ts";
import type { Adapters } from "../config/adapters.ts";
import type { LiveConfig } from "../config/changes/live-config.ts";
import type { Environment } from "../config/environment.ts";
import type { Home } from "../config/home/home.ts";
import type { Config } from "../config/schema/config.ts";
import type { Publish } from "../domain/events/event.ts";
import type { Fingerprint } from "../domain/fingerprint.ts";
import type { Redaction } from "../lib/secrets/redaction.ts";
import type { Signal } from "../lib/signal.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { AuditEntry } from "../records/audit/event-records.ts";
import type { DeltaBus } from "../records/events/deltas/delta-bus.ts";
import type { EventBus } from "../records/events/event-bus.ts";
import type { InstalledRecord } from "../records/installed-record.ts";
import type { Metrics } from "../records/metrics/metrics.ts";
import type { SessionLogs } from "../records/session-logs/session-log.ts";
import type { ChangedDescription } from "../rights/approvals/changed-descriptions.ts";
import type { Aliases } from "../rights/people/aliases.ts";
import type { Roles } from "../rights/people/roles.ts";
import type { ContainerEngine } from "../sandbox/engine/engine.ts";
import type { Mailbox } from "../sandbox/pool/hot-container.ts";
import type { Launcher } from "../sandbox/pool/launch.ts";
import type { OpenStdio } from "../sandbox/servers/server-streams.ts";
import type { GroupSpace } from "../sandbox/workspace/group-space.ts";
import type { BlobFolder } from "../stores/blobs/blob-folder.ts";
import type { Store } from "../stores/contract/store.ts";
import type { QueuedSession } from "../work/queue/session-queue.ts";

/** Shared dependencies of nearly every part of the host. */
export interface AppContext {
  /** Current settings at the time of reading: keep this, not a section of it. */
  readonly config: Config;
  /** For those who need one version of it, or have to know when it changes. */
  readonly live: LiveConfig;
  /** The channels and kinds of providers that the configuration was read with. */
  readonly adapters: Adapters;
  /** True when this channel is configured and has the trait. */
  readonly hasTrait: (channel: string, trait: keyof ChannelTraits) => boolean;
  readonly redaction: Redaction;
  readonly home: Home;
  readonly environment: Environment;
  readonly version: string;
  readonly clock: Clock;
  /** The time for what has to be over some day; it never goes back, also not over restarts, as far as events tell. */
  readonly forwardClock: Pick<Clock, "now">;
  readonly logger: Logger;
  readonly store: Store;
  readonly blobs: BlobFolder;
  /** Disk space of groups. */
  readonly space: GroupSpace;
  readonly logs: SessionLogs;
  readonly events: Pick<EventBus, "subscribe" | "next">;
  readonly publish: Publish;
  /** Live output of running turns. */
  readonly deltas: DeltaBus;
  /** Which ids are one person's. */
  readonly aliases: Aliases;
  /** Roles of people. */
  readonly roles: Roles;
  readonly fingerprint: (text: string) => Fingerprint;
  /** The record of installed plugins, skills and packages. */
  readonly installed: InstalledRecord;
  readonly metrics: Metrics;
  readonly interception: Interception;
}

/** Signals from parts of the host to those that are built after them. */
export interface HostSignals {
  /** Work was added to the store. */
  readonly workAdded: Signal;
  /** A session can go on. */
  readonly sessionReady: Signal<QueuedSession>;
  /** Tools of an MCP server have other descriptions than at first use. */
  readonly toolsChanged: Signal<ChangedTools>;
}

/** Tools of an MCP server whose descriptions have changed since first use. */
export interface ChangedTools {
  readonly tools: readonly ChangedDescription[];
  /** The group whose server it is; undefined for a server that groups share. */
  readonly group: string | undefined;
}

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
