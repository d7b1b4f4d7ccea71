import type { Logger } from "pino";

import type { BlobFolder } from "../blobs/blob-folder.ts";
import type { Adapters } from "../config/adapters.ts";
import type { Environment } from "../config/environment.ts";
import type { Home } from "../config/home.ts";
import type { Config } from "../config/schema.ts";
import type { Fingerprint } from "../domain/fingerprint.ts";
import type { EventBus } from "../events/event-bus.ts";
import type { Publish } from "../events/event.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Clock } from "../lib/clock.ts";
import type { SessionLogs } from "../session-logs/session-log.ts";
import type { Store } from "../stores/store.ts";
import type { Interception } from "./interception.ts";

/** What nearly every part of the host is made with. */
export interface AppContext {
  readonly config: Config;
  /** The channels and kinds of providers that the configuration was read with. */
  readonly adapters: Adapters;
  /** Values that must not be seen in logs, records and chats. */
  readonly secrets: readonly string[];
  readonly home: Home;
  readonly environment: Environment;
  readonly version: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly store: Store;
  readonly blobs: BlobFolder;
  readonly logs: SessionLogs;
  readonly events: Pick<EventBus, "subscribe" | "next">;
  readonly publish: Publish;
  readonly fingerprint: (text: string) => Fingerprint;
  readonly metrics: Metrics;
  readonly interception: Interception;
}

/** Id of the host's own user; 0 where the system has no such thing. */
export function hostUid(): number {
  return process.geteuid?.() ?? 0;
}
