import type { Group } from "../../domain/chats/group.ts";
import type {
  IncomingMessage,
  OutgoingMessage,
  Quote,
  StoredMessage,
  StoredQuote,
} from "../../domain/chats/message.ts";
import type { Origin } from "../../domain/people/origin.ts";
import { errorCode } from "../../lib/app-error.ts";
import type { Store } from "../../stores/contract/store.ts";

/** Characters that are kept of a quote. */
export const quoteChars = 4_096;

/** More senders than this with the same id are not told apart. */
const sameIds = 100;

export interface QuoteStore {
  readonly messages: Pick<Store["messages"], "called">;
  readonly outbox: Pick<Store["outbox"], "get" | "own">;
  readonly origins: Pick<Store["origins"], "lineage">;
}

/**
 * Returns what a message quotes as the store has it: a sender's client may say anything of anybody. The words are
 * somebody's only where they were received from them, or sent by the host, in this chat, and then as they were. What is
 * not found is the words of who quotes. What is kept no more has no words: a quote does not bring them back.
 */
export async function verifyQuote(
  store: QuoteStore,
  group: Group,
  { channel, chat, quote }: Pick<IncomingMessage, "channel" | "chat" | "quote">,
): Promise<StoredQuote | undefined> {
  if (!quote) return undefined;
  const { id } = quote;
  const sent = await findSent(store, { channel, chat, quote });
  if (sent) return ofAgent(store, id, sent);
  const [said, ...others] = await saidBy(store, group, quote);
  if (!said || others.length > 0) return { id, text: quote.text };
  if (said.pruned === true) return { id };
  const words = wordsOf(said);
  // Of whom the group does not hear nothing is kept.
  return words === "" ? { id, text: quote.text } : { id, author: said.sender, text: cut(words) };
}

/** The message of the host's that is quoted; one of a member's with the same id goes before it. */
async function findSent(
  { outbox }: QuoteStore,
  { channel, chat, quote: { id, seq } }: { readonly channel: string; readonly chat: string; readonly quote: Quote },
): Promise<OutgoingMessage | undefined> {
  const sent = seq === undefined ? await outbox.own(channel, chat, id) : await outbox.get(seq);
  return sent?.channel === channel && sent.chat === chat ? sent : undefined;
}

async function ofAgent(store: QuoteStore, id: string, sent: OutgoingMessage): Promise<StoredQuote> {
  if (sent.pruned === true) return { id };
  const { text, file, turn } = sent;
  const said = text.trim() === "" && file ? "[file]" : cut(text);
  return { id, author: "agent", text: said, origins: turn === undefined ? ["guest"] : await originsOf(store, turn) };
}

/** Origins of a turn's words; those of an unknown turn may be a stranger's. */
async function originsOf({ origins }: QuoteStore, turn: string): Promise<readonly Origin[]> {
  try {
    return (await origins.lineage(turn)).origins;
  } catch (error) {
    if (errorCode(error) === "not_found") return ["guest"];
    throw error;
  }
}

/** The messages that may be meant. */
async function saidBy(
  { messages }: QuoteStore,
  group: Group,
  { id, author }: Quote,
): Promise<readonly StoredMessage[]> {
  const called = await messages.called(group, id, sameIds);
  const theirs = called.filter(({ sender }) => sender.id === author);
  return theirs.length > 0 ? theirs : called;
}

function wordsOf({ text, attachments = [] }: StoredMessage): string {
  return text.trim() === "" ? attachments.map(({ kind }) => `[${kind}]`).join(" ") : text;
}

function cut(text: string): string {
  return text.slice(0, quoteChars).toWellFormed();
}
