import type { Group } from "../../domain/chats/group.ts";
import type { IncomingMessage } from "../../domain/chats/message.ts";
import { namesMentioned, namesSpoken } from "./mention.ts";

/** Rule that addresses a message to the agent, or `unaddressed`. Recorded in the audit log. */
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
  /** Names of the group's agents. */
  readonly names: readonly string[];
  /** Transcript of the message's recordings. */
  readonly spoken?: string | undefined;
  /** True when the agent sent the quoted message. */
  readonly isOwn: (channel: string, chat: string, reference: string) => Promise<boolean>;
}

/**
 * Returns the first rule that addresses this message to the agent. Sender names and quoted text never count; a
 * forwarded message mentions nobody.
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
  if (namesMentioned(text, names).length > 0) return "text-mention";
  return namesSpoken(spoken, names).length > 0 ? "spoken-mention" : undefined;
}
