import type { OutgoingMessage, OutgoingQuote, StoredMessage } from "../domain/chats/message.ts";
import type { MessageStore } from "../stores/contract/store.ts";

/** Maximum characters of a quote; platforms show a line or two. */
const quoteChars = 300;

interface QuoteOptions {
  readonly messages: Pick<MessageStore, "overtaken">;
  /** True when messages of this channel can quote others. */
  readonly canQuote: (channel: string) => boolean;
}

/** Returns the quote of an outgoing message; undefined when none. */
export type QuoteOf = (message: OutgoingMessage) => Promise<OutgoingQuote | undefined>;

/**
 * Quotes the last answered message when others came after it. Decided when sending. The quoted message must have been
 * addressed to the agent in the same chat of the same group and still be stored.
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
