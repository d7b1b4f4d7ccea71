import type { OutgoingDraft, OutgoingKind, StoredMessage } from "../domain/chats/message.ts";
import type { NewWork } from "../domain/work/work.ts";
import { answering } from "./drafts.ts";
import type { TurnScope } from "./turn-scope.ts";

/** Longest answer that is handed to another session; the whole of it stays in the steps of the turn. */
const maxWorkChars = 16_000;

/**
 * Delivers a turn's end: as a message to a chat, as work for another session, as a sub-agent's result, or nowhere. The
 * work inherits the turn's lineage where the end is stored.
 */
export function answerTo(
  { turn, group, session }: Pick<TurnScope, "turn" | "group" | "session">,
  answer: {
    readonly kind: OutgoingKind;
    readonly text: string;
    /** Answered messages, in order. */
    readonly messages: readonly StoredMessage[];
    readonly elapsedMs: number;
    readonly at: number;
  },
): {
  readonly outgoing: readonly OutgoingDraft[];
  readonly work: readonly Omit<NewWork, "lineage">[];
  readonly handsBack?: string;
} {
  const { kind, text, messages, elapsedMs, at } = answer;
  const { replyTo } = turn;
  // The store keeps it until its parent can have it.
  if (session.kind === "agent")
    return { outgoing: [], work: [], handsBack: text.slice(0, maxWorkChars).toWellFormed() };
  if (replyTo.kind === "nowhere") return { outgoing: [], work: [] };
  // Nobody has asked, so nobody waits: why a look by itself failed is in the list of turns.
  if (turn.cause === "heartbeat" && kind === "notice") return { outgoing: [], work: [] };
  if (replyTo.kind === "session") {
    const asker = replyTo.group ?? group;
    const work: Omit<NewWork, "lineage"> = {
      id: `agent:${turn.id}`,
      group: asker.name,
      session: replyTo.session,
      cause: "agent",
      dueAt: at,
      dedupe: `agent:${turn.id}`,
      replyTo: { kind: "chat", channel: asker.channel, chat: asker.chat },
      origin: "agent",
      text: text.slice(0, maxWorkChars).toWellFormed(),
    };
    return { outgoing: [], work: [work] };
  }
  if (text === "") return { outgoing: [], work: [] };
  const { channel, chat, thread } = replyTo;
  const place = { group: group.name, channel, chat, thread, agent: group.acting?.name };
  const about = messages.length === 0 ? { inReplyTo: [] } : answering(messages);
  return {
    outgoing: [{ ...place, ...about, kind, text, turn: turn.id, elapsedMs }],
    work: [],
  };
}
