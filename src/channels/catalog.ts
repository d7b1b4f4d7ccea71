import type { ChannelDefinition } from "./define-channel.ts";
import { http } from "./http/definition.ts";
import { terminal } from "./terminal/definition.ts";
import { whatsapp } from "./whatsapp/definition.ts";

/** Every channel that comes with crabpot. */
export const channelDefinitions: readonly ChannelDefinition[] = [terminal, http, whatsapp];
