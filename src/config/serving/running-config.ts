import type { Redaction } from "../../lib/secrets/redaction.ts";
import type { Adapters } from "../adapters.ts";
import type { LiveConfig } from "../changes/live-config.ts";
import type { Environment } from "../environment.ts";
import type { Home } from "../home/home.ts";

/** The configuration of a running host, with what its files are read with. */
export interface RunningConfig {
  readonly live: LiveConfig;
  /** The channels, kinds of providers and tools that it may name. */
  readonly adapters: Adapters;
  readonly home: Home;
  readonly environment: Environment;
  /** Learns each secret before anything uses it. */
  readonly redaction: Redaction;
}
