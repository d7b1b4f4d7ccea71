import { answerCode } from "./answer-code.ts";
import type { ChatCommand } from "../../command.ts";

/** Lets a tool call run, or makes a group of a chat that asked for it. */
export const approve: ChatCommand = {
  name: "approve",
  help: "allow a tool call; in a main group, admit the chat that asked",
  takes: "CODE [once|session|day|always]",
  needs: "member",
  run: answerCode,
};
