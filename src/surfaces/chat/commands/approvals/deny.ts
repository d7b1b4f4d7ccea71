import { answerCode } from "./answer-code.ts";
import type { ChatCommand } from "../../command.ts";

/** Does not let a tool call run, or leaves a chat that asked to become a group without an answer. */
export const deny: ChatCommand = {
  name: "deny",
  help: "deny a tool call; in a main group, deny the chat that asked, without replying",
  takes: "CODE [reason]",
  needs: "member",
  run: answerCode,
};
