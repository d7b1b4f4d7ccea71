import type { ChatCommand } from "./command.ts";

/** Says how things stand in the group. */
export const status: ChatCommand = {
  name: "status",
  help: "says what I am doing, and how much waits",
  needs: "guest",
  run: async ({ group }, { describe }) => ({ text: await describe(group) }),
};
