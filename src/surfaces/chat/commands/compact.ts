import { agentsAddressed } from "../agents-addressed.ts";
import type { ChatCommand } from "../command.ts";

/**
 * Has the older part of the conversation with the group's agent summed up, of several that with all, or with the one
 * that is named.
 */
export const compact: ChatCommand = {
  name: "compact",
  help: "summarize the older part of the conversation to make room",
  needs: "member",
  perAgent: true,
  run: async (given, services) => {
    const addressed = await agentsAddressed(given, services);
    if (typeof addressed === "string") return { text: addressed };
    const sessions = await Promise.all(addressed.agents.map((id) => services.sessions.mainOf(given.group, id)));
    const compacts = sessions.map(({ id }) => id);
    if (compacts.every((id) => services.isCompactionAsked(id)))
      return {
        text: "Already queued; I will do it when I am idle and report the result.",
      };
    // What came of it is said when it is known.
    const text = services.isAtWork(given.group) ? "I will do it when the current work is done." : undefined;
    return { compacts, text };
  },
};
