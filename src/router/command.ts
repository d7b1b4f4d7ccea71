import type { ChatCommand } from "../domain/message.ts";
import { withoutLeadingMention } from "./mention.ts";

/** The command that a message consists of, optionally behind a mention of the agent; undefined when it says anything else. */
export function parseCommand(text: string, assistantName: string): ChatCommand | undefined {
  switch (withoutLeadingMention(text, assistantName).toLowerCase()) {
    case "/stop":
      return "stop";
    case "/new":
      return "new";
    case "/status":
      return "status";
    default:
      return undefined;
  }
}
