import type { Group } from "../domain/chats/group.ts";
import type { OutgoingDraft, StoredMessage } from "../domain/chats/message.ts";

/** A draft for the group's chat. */
export function draftFor(
  group: Group,
  message: Pick<OutgoingDraft, "kind" | "text" | "inReplyTo" | "turn" | "thread" | "elapsedMs">,
): OutgoingDraft {
  const { name, channel, chat, acting } = group;
  return { group: name, channel, chat, agent: acting?.name, ...message };
}

/** Reply fields for these messages: in the thread of the last one. */
export function answering(messages: readonly StoredMessage[]): Pick<OutgoingDraft, "inReplyTo" | "thread"> {
  // One that was for several agents is there for each of them.
  return { inReplyTo: [...new Set(messages.map(({ id }) => id))], thread: messages.at(-1)?.thread };
}
