import { withoutLeadingMention } from "./mention.ts";

/** `stop`: end the running turn and forget what waits. `new`: a new conversation. `status`: what is going on. */
export type ChatCommand = "stop" | "new" | "status";

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
