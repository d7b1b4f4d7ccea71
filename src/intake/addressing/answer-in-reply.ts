import type { IncomingMessage } from "../../domain/message.ts";
import type { Store } from "../../stores/store.ts";
import type { SaidCommand } from "./command.ts";
import { withoutLeadingMention } from "./mention.ts";

/** Exact words, alone in a message. */
const commands: Readonly<Record<string, "approve" | "deny">> = {
  yes: "approve",
  ok: "approve",
  approve: "approve",
  no: "deny",
  deny: "deny",
};

/**
 * The command that a reply of one word to a question of the host's stands for, where the channel says by its number which message is
 * replied to. Undefined for everything else: neither what a quote says nor what was forwarded is anybody's answer.
 */
export async function answerInReply(
  {
    assistantName,
    store,
  }: {
    readonly assistantName: string;
    readonly store: {
      readonly approvals: Pick<Store["approvals"], "ofCard">;
      readonly outbox: Pick<Store["outbox"], "isOwn">;
    };
  },
  { channel, chat, text, quote, forwarded }: IncomingMessage,
): Promise<SaidCommand | undefined> {
  const word = withoutLeadingMention(text, assistantName).toLowerCase();
  const command = Object.hasOwn(commands, word) ? commands[word] : undefined;
  if (!command || forwarded === true || !quote || !/^[1-9]\d{0,14}$/.test(quote.id)) return undefined;
  const approval = await store.approvals.ofCard(Number(quote.id));
  if (approval?.channel !== channel || approval.chat !== chat) return undefined;
  return (await store.outbox.isOwn(channel, chat, quote.id)) ? { command, argument: approval.code } : undefined;
}
