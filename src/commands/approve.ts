import type { ChatCommand } from "./command.ts";

/** Makes a group of a chat that asked for it. */
export const approve: ChatCommand = {
  name: "approve",
  help: "makes a group of the chat that asked with this code",
  takes: "CODE [name]",
  needs: "admin",
  inMainGroups: true,
  run: ({ pending }, { answer }) => answer(pending),
};
