import type { Logger } from "pino";

import type { Fingerprint } from "../audit/fingerprint.ts";
import type { Adapters } from "../config/adapters.ts";
import type { Environment } from "../config/environment.ts";
import type { Home } from "../config/home.ts";
import type { Config } from "../config/schema.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Clock } from "../lib/clock.ts";
import type { SessionLogs } from "../lib/session-log.ts";
import type { Store } from "../stores/store.ts";
import type { CrashPoints } from "./crash-points.ts";
import type { PutOnRecord } from "./events.ts";
import type { LimitReporter } from "./limits.ts";

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
  readonly logs: SessionLogs;
  readonly record: PutOnRecord;
  readonly limits: LimitReporter;
  readonly fingerprint: (text: string) => Fingerprint;
  readonly metrics: Metrics;
  readonly crashPoints: CrashPoints;
}

/** Id of the host's own user; 0 where the system has no such thing. */
export function hostUid(): number {
  return process.geteuid?.() ?? 0;
}
