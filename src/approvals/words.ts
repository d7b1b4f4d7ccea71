import { type Approval, changedThing, type ChangeOutcome } from "../domain/approval.ts";
import type { OutgoingDraft } from "../domain/message.ts";
import { plainSentence } from "../lib/text/plain-words.ts";
import { inMinutes } from "./card.ts";

const scopes = {
  once: "once",
  session: "for this conversation",
  day: "for a day",
  always: "for good",
} as const;

/** In a line for the chat, what became of it. */
export function describeDecision(approval: Approval): string {
  const { code, tool, state, decider, scope, reason } = approval;
  const call = `${plainSentence(tool)} (${code})`;
  const who = decider?.name ?? "somebody";
  switch (state) {
    case "open":
      return `${call} waits: ${approval.votes} of ${approval.quorum} people have allowed it.`;
    case "allowed":
      return `${who} has allowed ${call} ${scopes[scope ?? "once"]}.`;
    case "denied":
      return `${who} has denied ${call}${reason === undefined ? "." : `: ${plainSentence(reason)}`}`;
    case "expired":
      return `Nobody has answered within ${inMinutes(minutesOf(approval))}: ${call} is denied.`;
    case "cancelled":
      return `${call} does not matter any more: its turn has ended.`;
  }
  return call;
}

/** What became of a change that was allowed and is not in its file. */
export function describeOutcome(approval: Pick<Approval, "code" | "tool" | "input">, outcome: ChangeOutcome): string {
  const { code } = approval;
  const thing = changedThing(approval);
  const begin = `${thing.charAt(0).toUpperCase()}${thing.slice(1)}`;
  if (outcome === "changed")
    return `${begin} has changed since ${code} was asked. Nothing was written; it has to be proposed again.`;
  return `${begin} could not be written (${code}). Nothing was changed; the log of the host says why.`;
}

/** Why a proposed change is not allowed for longer. */
export function onceOnly(code: string): string {
  return `${code} is a proposed change: it can be allowed once, and not for longer.`;
}

/** Why a call was not run, for the model. */
export function denialForModel(approval: Approval): string {
  const { decider, reason } = approval;
  if (decider === undefined) return `nobody answered within ${inMinutes(minutesOf(approval))}`;
  if (decider.actor === "host")
    return `The operator's policy has changed since this was asked: ${reason ?? "it is denied now"}.`;
  return `denied by ${decider.role}: ${reason ?? "no reason was given"}`;
}

/** Said by the host in the chat that was asked. */
export function noticeIn(
  { group, channel, chat, turn }: Pick<Approval, "group" | "channel" | "chat" | "turn">,
  text: string,
): OutgoingDraft {
  return { group, channel, chat, kind: "notice", text, inReplyTo: [], turn };
}

function minutesOf({ askedAt, expiresAt }: Approval): number {
  return (expiresAt - askedAt) / 60_000;
}
