import type { IncomingMessage } from "../../domain/chats/message.ts";
import { agentOfSession } from "../../domain/turns/session.ts";
import { namesMentioned, namesSpoken } from "./mention.ts";

export interface AgentsMeantOptions {
  /** The agents of the group, the first one first, and what they are called. */
  readonly names: readonly { readonly id: string; readonly name: string }[];
  /** Key of the session in whose turn a message of the host's was said. */
  readonly sessionOf: (channel: string, chat: string, reference: string) => Promise<string | undefined>;
}

/**
 * Ids of the addressed agents: all that the message names; else the one whose message it replies to; else the first. A
 * platform's own mention means the shared account, and so no agent.
 */
export async function agentsMeant(
  { names, sessionOf }: AgentsMeantOptions,
  { channel, chat, text, quote, forwarded }: IncomingMessage,
  spoken = "",
): Promise<readonly string[]> {
  const called = names.map(({ name }) => name);
  const heard = new Set([...namesMentioned(text, called), ...namesSpoken(spoken, called)]);
  const named = forwarded === true ? [] : names.filter(({ name }) => heard.has(name));
  if (named.length > 0) return named.map(({ id }) => id);
  const key = quote && (await sessionOf(channel, chat, String(quote.seq ?? quote.id)));
  const author = key === undefined ? undefined : agentOfSession({ key });
  const meant = names.find(({ id }) => id === author) ?? names[0];
  return meant ? [meant.id] : [];
}
