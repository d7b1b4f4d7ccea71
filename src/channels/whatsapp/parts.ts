import type { Logger } from "pino";

import type { Clock } from "../../lib/clock.ts";
import type { Wait } from "../../lib/wait.ts";
import type { ChannelStateStore } from "../../stores/store.ts";
import type { Pacing, PacingLimits } from "./pacing.ts";
import type { WorkerLimits } from "./worker-process.ts";

/** `channels.whatsapp` of the configuration. */
export interface WhatsAppSettings {
  /** Digits only: link by a code instead of a picture. */
  readonly phoneNumber?: string | undefined;
  readonly webSocketUrl?: string | undefined;
  /** 64 hex digits. */
  readonly rootPublicKey?: string | undefined;
  /** Of the WhatsApp Web client, such as 2.3000.1043857760. */
  readonly version?: string | undefined;
  readonly readReceipts: boolean;
  readonly pacing: PacingLimits;
}

/** What the connector is made with. */
export interface WhatsAppOptions {
  readonly settings: WhatsAppSettings;
  readonly assistantName: string;
  /** Of this home: ids of messages are made with it. */
  readonly instance: string;
  readonly store: ChannelStateStore;
  /** The host's environment, of which the worker gets a few. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly wait: Wait;
  /** A number in 0..1. */
  readonly random: () => number;
  readonly logger: Logger;
  readonly limits?: WorkerLimits | undefined;
}

/** What a connection is made with. */
export interface WhatsAppParts extends WhatsAppOptions {
  readonly channel: string;
  readonly remark: string | undefined;
  readonly pacing: Pacing;
}
