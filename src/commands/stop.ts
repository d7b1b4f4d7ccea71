import type { ChatCommand } from "./command.ts";
import { describeSetAside } from "./set-aside.ts";

/** Ends the running turns of the group and drops what waits there. */
export const stop: ChatCommand = {
  name: "stop",
  help: "ends what I am working on, and drops what waits",
  for: "members",
  run: async ({ pending }, { assistantName }) => ({
    stops: true,
    text: (found) => describeSetAside(found, pending.message.sender, assistantName) || "There is nothing to stop.",
  }),
};
