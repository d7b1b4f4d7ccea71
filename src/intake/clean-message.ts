import type { IncomingMessage, Quote } from "../domain/chats/message.ts";
import { quoteChars } from "./addressing/verify-quote.ts";

const nameChars = 256;

/**
 * The message without what no program handles well: NUL is removed, a half of a surrogate pair becomes U+FFFD, names
 * and quoted texts are cut. The text itself is never cut.
 */
export function cleanMessage(message: IncomingMessage): IncomingMessage {
  const { sender, quote, thread } = message;
  return {
    ...message,
    chat: clean(message.chat),
    id: clean(message.id),
    sender: { id: clean(sender.id), name: cut(clean(sender.name), nameChars) },
    text: clean(message.text),
    quote: quote && cleanQuote(quote),
    thread: thread === undefined ? undefined : clean(thread),
    chatTitle: message.chatTitle === undefined ? undefined : cut(clean(message.chatTitle), nameChars),
  };
}

function cleanQuote(quote: Quote): Quote {
  return {
    id: clean(quote.id),
    author: quote.author === undefined ? undefined : cut(clean(quote.author), nameChars),
    text: quote.text === undefined ? undefined : cut(clean(quote.text), quoteChars),
    toAgent: quote.toAgent,
    seq: quote.seq,
  };
}

function clean(text: string): string {
  return text.replaceAll("\0", "").toWellFormed();
}

/** Not in the middle of a surrogate pair. */
function cut(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const kept = text.slice(0, chars);
  return kept.isWellFormed() ? kept : kept.slice(0, -1);
}
