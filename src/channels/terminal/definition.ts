import * as z from "zod";

import { defineChannel } from "../define-channel.ts";

/** Whoever started the host types here; without a person, a program writes lines. */
export const terminal = defineChannel({
  name: "terminal",
  config: z.strictObject({}),
  traits: {
    console: true,
    edits: true,
    voice: true,
    inEveryHome: true,
    typedChats: true,
    operatorOnly: true,
    fetchedLater: true,
    namesAgents: true,
  },
  open: async (_settings, ports) => {
    const { TerminalChannel } = await import("./terminal-channel.ts");
    return new TerminalChannel({
      ...ports.console(),
      get assistantName() {
        return ports.assistantName;
      },
      clock: ports.clock,
      chats: ports.chats,
    });
  },
});
