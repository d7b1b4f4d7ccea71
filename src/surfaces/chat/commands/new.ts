import { agentsAddressed } from "../agents-addressed.ts";
import type { ChatCommand } from "../command.ts";
import { describeSetAside } from "../set-aside.ts";

/**
 * Begins a new conversation in the main session of the group's agent, of several in those of all, or of the one that is
 * named.
 */
export const newConversation: ChatCommand = {
  name: "new",
  help: "start a new conversation; files are kept",
  needs: "member",
  perAgent: true,
  run: async (given, services) => {
    const { group, pending, agentName } = given;
    const addressed = await agentsAddressed(given, services);
    if (typeof addressed === "string") return { text: addressed };
    const sessions = await Promise.all(addressed.agents.map((id) => services.sessions.mainOf(group, id)));
    const names = addressed.agents.map((id) => services.agentNameOf(group, id));
    const whose = group.agents ? ` with ${names.join(", ")}` : "";
    const begun = `A new conversation${whose} has started. I no longer see what was said before, and running background work was ended. Files in the group's folder are kept.`;
    return {
      stops: true,
      choose: addressed.choose,
      renews: sessions.map(({ id }) => id),
      text: (found) => `${describeSetAside(found, pending.message.sender, agentName)} ${begun}`.trim(),
    };
  },
};
