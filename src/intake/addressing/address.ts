import type { Group } from "../../domain/chats/group.ts";
import type { IncomingMessage } from "../../domain/chats/message.ts";
import { isMentioned, isSpoken } from "./mention.ts";

/** Why a message is for the agent, or that it is not: `unaddressed`. The words stand in the audit log. */
export type AddressRule =
  | "main-group"
  | "trigger-always"
  | "direct-chat"
  | "platform-mention"
  | "reply-to-agent"
  | "text-mention"
  | "spoken-mention"
  | "unaddressed";

export interface AddressOptions {
  /** What the group's agents are called. */
  readonly names: readonly string[];
  /** What is said in recordings that came with the message. */
  readonly spoken?: string | undefined;
  /** Did the agent say what is quoted here? */
  readonly isOwn: (channel: string, chat: string, reference: string) => Promise<boolean>;
}

/**
 * The first rule that makes this message one for the agent. The sender's name and the text of a quote have no say in
 * it; what was forwarded is another person's words, and mentions nobody.
 */
export async function addressRule(
  options: AddressOptions,
  group: Group,
  message: IncomingMessage,
): Promise<AddressRule> {
  const { quote } = message;
  if (group.main) return "main-group";
  if (group.trigger === "always") return "trigger-always";
  if (message.direct === true) return "direct-chat";
  if (message.forwarded === true) return "unaddressed";
  if (message.mention) return "platform-mention";
  const said = mentionIn(options, message.text);
  if (said !== undefined) return said;
  if (quote?.toAgent === true) return "reply-to-agent";
  if (quote && (await options.isOwn(group.channel, group.chat, quote.id))) return "reply-to-agent";
  return "unaddressed";
}

function mentionIn({ names, spoken = "" }: AddressOptions, text: string): AddressRule | undefined {
  if (names.some((name) => isMentioned(text, name))) return "text-mention";
  return names.some((name) => isSpoken(spoken, name)) ? "spoken-mention" : undefined;
}
