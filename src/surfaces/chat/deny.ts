import { answerCode } from "./answer-code.ts";
import type { ChatCommand } from "./command.ts";

/** Does not let a tool call run, or leaves a chat that asked to become a group without an answer. */
export const deny: ChatCommand = {
  name: "deny",
  help: "denies what I have asked with this code; in a main group, leaves the chat that asked without an answer",
  takes: "CODE [reason]",
  needs: "member",
  run: answerCode,
};
