import type { Logger } from "pino";

import type { Clock } from "../lib/clock.ts";
import type { Sleep } from "../lib/sleep.ts";
import { type ReconnectLimits, reconnectLimits } from "./reconnect.ts";
import type { SilenceLimits } from "./silence.ts";

export interface SupervisorLimits extends ReconnectLimits, SilenceLimits {
  /** A connection that is not there after so long is given up. */
  readonly connectMs: number;
  /** How long the end of the channel waits for a connection that does not close. */
  readonly closeMs: number;
}

export const supervisorLimits: SupervisorLimits = {
  ...reconnectLimits,
  connectMs: 60_000,
  silenceMs: 120_000,
  probeMs: 10_000,
  closeMs: 5_000,
};

export interface SupervisorParts {
  readonly clock: Clock;
  readonly wait: Sleep;
  /** A number in 0..1. */
  readonly random: () => number;
  readonly logger: Logger;
  readonly limits?: SupervisorLimits;
}
