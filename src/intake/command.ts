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

/** The answer to a request that a message of a main group consists of: `/approve CODE [name]` or `/deny CODE`. */
export function parseAnswer(
  text: string,
  assistantName: string,
): { readonly command: "approve" | "deny"; readonly argument: string } | undefined {
  const said = /^\/(approve|deny)(?:\s+(.*))?$/is.exec(withoutLeadingMention(text, assistantName));
  if (!said) return undefined;
  return { command: said[1]?.toLowerCase() === "approve" ? "approve" : "deny", argument: said[2]?.trim() ?? "" };
}
