import { agentsAddressed } from "./agents-addressed.ts";
import type { ChatCommand } from "./command.ts";

/**
 * Has the older part of the conversation with the group's agent summed up, of several that with all, or with the one
 * that is named.
 */
export const compact: ChatCommand = {
  name: "compact",
  help: "sums up the older part of our conversation, so that there is room for more",
  needs: "member",
  perAgent: true,
  run: async (given, services) => {
    const addressed = await agentsAddressed(given, services);
    if (typeof addressed === "string") return { text: addressed };
    const sessions = await Promise.all(addressed.agents.map((id) => services.sessionOf(given.group, id)));
    const compacts = sessions.map(({ id }) => id);
    if (compacts.every((id) => services.isCompactionAsked(id)))
      return {
        text: "I was asked for that already: I do it when nothing else is to be done, and say what came of it.",
      };
    // What came of it is said when it is known.
    const text = services.isAtWork(given.group) ? "I do that when I am done with what I am at." : undefined;
    return { compacts, text };
  },
};
