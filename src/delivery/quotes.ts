import type { OutgoingMessage, OutgoingQuote, StoredMessage } from "../domain/chats/message.ts";
import type { MessageStore } from "../stores/contract/store.ts";

/** What a platform shows of a quoted message is a line or two. */
const quoteChars = 300;

interface QuoteOptions {
  readonly messages: Pick<MessageStore, "overtaken">;
  /** Can messages of this channel quote others? */
  readonly canQuote: (channel: string) => boolean;
}

/** What a message on its way quotes; undefined: nothing. */
export type QuoteOf = (message: OutgoingMessage) => Promise<OutgoingQuote | undefined>;

/**
 * A message quotes the last one that it answers where others have come in between; directly behind that one everybody
 * sees what it answers. It is decided when it is sent. What is quoted was said to the agent in the same chat of the
 * same group, and is still kept.
 */
export function createQuotes({ messages, canQuote }: QuoteOptions): QuoteOf {
  return async (message) => {
    const { group, channel, chat, inReplyTo, kind, reaction } = message;
    const id = inReplyTo.at(-1);
    if (id === undefined || reaction !== undefined || !canQuote(channel)) return undefined;
    // A notice may be about what is not going to be answered: by then it is context like what is said for others.
    const answered = await messages.overtaken({ name: group, channel, chat }, id, { setAside: kind === "notice" });
    const text = answered && wordsOf(answered);
    return text ? { id, sender: answered.sender.id, text } : undefined;
  };
}

function wordsOf({ text, attachments = [] }: StoredMessage): string {
  if (text.trim() === "") return attachments.map(({ kind }) => `[${kind}]`).join(" ");
  return text.slice(0, quoteChars).toWellFormed();
}
