import type { ChatCommand } from "../command.ts";

/** Says how things stand in the group. */
export const status: ChatCommand = {
  name: "status",
  help: "what I am doing, and what is waiting",
  needs: "guest",
  run: async ({ group }, { describe }) => ({ text: await describe(group) }),
};
