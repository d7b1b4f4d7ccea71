import type { Connector } from "./channel.ts";
import type { HttpChannel, HttpParts } from "./http/http-channel.ts";
import type { TerminalChannel, TerminalParts } from "./terminal/terminal-channel.ts";
import type { WhatsAppOptions } from "./whatsapp/parts.ts";

/** Every channel there is, by the name that the configuration uses. An adapter is loaded when it is opened. */
export const channels = {
  http: async (parts: HttpParts): Promise<HttpChannel> => {
    const { HttpChannel: Adapter } = await import("./http/http-channel.ts");
    return new Adapter(parts);
  },
  terminal: async (parts: TerminalParts): Promise<TerminalChannel> => {
    const { TerminalChannel: Adapter } = await import("./terminal/terminal-channel.ts");
    return new Adapter(parts);
  },
  whatsapp: async (options: WhatsAppOptions): Promise<Connector> => {
    const { WhatsAppConnector: Adapter } = await import("./whatsapp/connector.ts");
    return new Adapter(options);
  },
} as const;
