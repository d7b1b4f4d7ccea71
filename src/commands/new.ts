import type { ChatCommand } from "./command.ts";
import { describeSetAside } from "./set-aside.ts";

const begun =
  "A new conversation has begun: what was said before is forgotten, and what the agent still had running is ended. Files in the group's folder are kept.";

/** Begins a new conversation in the group's main session. */
export const newConversation: ChatCommand = {
  name: "new",
  help: "begins a new conversation; I forget what was said, files are kept",
  needs: "member",
  run: async ({ group, pending, agentName }, { sessionOf }) => ({
    stops: true,
    renews: (await sessionOf(group)).id,
    text: (found) => `${describeSetAside(found, pending.message.sender, agentName)} ${begun}`.trim(),
  }),
};
