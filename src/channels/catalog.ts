import type { HttpChannel, HttpParts } from "./http/http-channel.ts";
import type { TerminalChannel, TerminalParts } from "./terminal/terminal-channel.ts";

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
} as const;
