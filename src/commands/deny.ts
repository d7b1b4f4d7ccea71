import type { ChatCommand } from "./command.ts";

/** Leaves a chat that asked to become a group without an answer. */
export const deny: ChatCommand = {
  name: "deny",
  help: "leaves the chat that asked with this code without an answer",
  takes: "CODE",
  needs: "admin",
  inMainGroups: true,
  run: ({ pending }, { answer }) => answer(pending),
};
