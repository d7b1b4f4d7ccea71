import type { ChannelPorts } from "../define-channel.ts";
import type { Pacing } from "./pacing.ts";
import type { WhatsAppSettings } from "./settings.ts";
import type { WorkerLimits } from "./worker-process.ts";

/** What the connector is made with. */
export interface WhatsAppOptions extends Pick<
  ChannelPorts,
  "instance" | "state" | "variables" | "clock" | "wait" | "random" | "logger"
> {
  readonly assistantName: () => string;
  readonly settings: WhatsAppSettings;
  readonly limits?: WorkerLimits | undefined;
}

/** What a connection is made with. */
export interface WhatsAppParts extends WhatsAppOptions {
  readonly channel: string;
  readonly remark: string | undefined;
  readonly pacing: Pacing;
}
