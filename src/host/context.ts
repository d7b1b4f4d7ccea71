import type { Logger } from "pino";

import type { BlobFolder } from "../stores/blobs/blob-folder.ts";
import type { ChannelTraits } from "../channels/define-channel.ts";
import type { Adapters } from "../config/adapters.ts";
import type { Environment } from "../config/environment.ts";
import type { Home } from "../config/home/home.ts";
import type { LiveConfig } from "../config/changes/live-config.ts";
import type { Config } from "../config/schema/config.ts";
import type { Fingerprint } from "../domain/fingerprint.ts";
import type { DeltaBus } from "../records/events/deltas/delta-bus.ts";
import type { EventBus } from "../records/events/event-bus.ts";
import type { Aliases } from "../rights/people/aliases.ts";
import type { Roles } from "../rights/people/roles.ts";
import type { Publish } from "../domain/events/event.ts";
import type { Media } from "../abilities/media/media.ts";
import type { InstalledRecord } from "../records/installed-record.ts";
import type { Metrics } from "../records/metrics/metrics.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { Redaction } from "../lib/secrets/redaction.ts";
import type { SessionLogs } from "../records/session-logs/session-log.ts";
import type { GroupSpace } from "../sandbox/workspace/group-space.ts";
import type { Store } from "../stores/contract/store.ts";
import type { Interception } from "./interception.ts";

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
  /** Reads files of strangers. */
  readonly media: Media;
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
