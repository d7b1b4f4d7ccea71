import * as z from "zod";

import { defineChannel } from "../define-channel.ts";

/** Programs post messages to the gateway and fetch replies there. */
export const http = defineChannel({
  name: "http",
  config: z.strictObject({ autoRegister: z.boolean().default(false) }),
  traits: {
    gateway: true,
    typedChats: true,
    reactions: true,
    hearsReactions: true,
    voice: true,
    fetchedLater: true,
    namesAgents: true,
  },
  registersChats: ({ autoRegister }) => autoRegister,
  open: async (_settings, { routes, outgoing, clock }) => {
    const { HttpChannel } = await import("./http-channel.ts");
    return new HttpChannel({ routes: routes(), outgoing, clock });
  },
});
