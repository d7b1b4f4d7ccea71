import type { Approval } from "../../domain/rights/approval.ts";
import type { IncomingMessage, Quote } from "../../domain/chats/message.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { SaidCommand } from "./command.ts";
import { withoutLeadingMention } from "./mention.ts";

/** One-word replies, and the commands that they stand for with scope `once`. */
const commands: Readonly<Record<string, "approve" | "deny">> = {
  yes: "approve",
  ok: "approve",
  approve: "approve",
  allow: "approve",
  "allow once": "approve",
  no: "deny",
  deny: "deny",
};

export interface AnswerInReplyOptions {
  /** A server waits for people to say something in their own words. */
  readonly formsAwaited: boolean;
  readonly assistantName: string;
  readonly store: {
    readonly approvals: Pick<Store["approvals"], "ofCard">;
    readonly outbox: Pick<Store["outbox"], "own">;
  };
}

/**
 * The command that a reply of one word to a question of the host's, or of any words to a server's, stands for, where
 * the channel says which message of the host's is replied to. Undefined for everything else: neither what a quote says
 * nor what was forwarded is anybody's answer.
 */
export async function answerInReply(
  { assistantName, store, formsAwaited }: AnswerInReplyOptions,
  { channel, chat, text, quote, forwarded }: IncomingMessage,
): Promise<SaidCommand | undefined> {
  const words = withoutLeadingMention(text, assistantName);
  const command = commandOf(words);
  const seq = (command || formsAwaited) && forwarded !== true ? seqOf(quote) : undefined;
  if (!quote || seq === undefined) return undefined;
  const approval = await store.approvals.ofCard(seq);
  if (approval?.channel !== channel || approval.chat !== chat) return undefined;
  // A member's message may be called by a number, too.
  const isOwn = quote.seq !== undefined || (await store.outbox.own(channel, chat, quote.id)) !== undefined;
  return isOwn ? saidTo(approval, words) : undefined;
}

function commandOf(words: string): "approve" | "deny" | undefined {
  const word = words.toLowerCase();
  return Object.hasOwn(commands, word) ? commands[word] : undefined;
}

function saidTo({ about, state, code }: Approval, words: string): SaidCommand | undefined {
  if (about === "form" && state === "open") return { command: "answer", argument: `${code} ${words}` };
  const command = commandOf(words);
  return command && { command, argument: code };
}

/** The number in the outbox of what is quoted, as far as the channel knows that it may be there. */
function seqOf(quote: Quote | undefined): number | undefined {
  if (!quote || quote.toAgent === false) return undefined;
  return quote.seq ?? (/^[1-9]\d{0,14}$/.test(quote.id) ? Number(quote.id) : undefined);
}
