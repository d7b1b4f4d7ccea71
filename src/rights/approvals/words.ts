import {
  type Approval,
  type ApprovalScope,
  approvalScopes,
  changedThing,
  type ChangeOutcome,
  widestScope,
} from "../../domain/rights/approval.ts";
import { ofHost, type Sourced, sourced } from "../../domain/rights/sourced.ts";
import type { OutgoingDraft } from "../../domain/chats/message.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { plainSentence } from "../../lib/text/plain-words.ts";
import { inMinutes } from "./card.ts";

const scopes = {
  once: "once",
  session: "for this conversation",
  day: "for a day",
  always: "for good",
} as const;

/** True for a decision of which the chat is told when it is carried out. */
export function isSaidLater({ about, state }: Pick<Approval, "about" | "state">): boolean {
  return about === "review" && (state === "allowed" || state === "denied");
}

/** Returns a line for the chat about the decision. */
export function describeDecision(approval: Approval): string {
  if (approval.about === "review") return describeReview(approval);
  const { code, state, decider, reason } = approval;
  const call = `${nameOf(approval)} (${code})`;
  const who = decider?.name ?? "somebody";
  switch (state) {
    case "open":
      return `${call} waits: ${approval.votes} of ${approval.quorum} people have allowed it.`;
    case "allowed":
      return describeYes(approval, who, call);
    case "denied":
      return `${who} has denied ${call}${reason === undefined ? "." : `: ${plainSentence(reason)}`}`;
    case "expired":
      return `Nobody has answered within ${inMinutes(minutesOf(approval))}: ${call} is denied.`;
    case "cancelled":
      return `${call} is no longer needed: ${whyCancelled(approval)}.`;
  }
  return call;
}

function describeReview(approval: Approval): string {
  const { code, state, decider, votes, quorum } = approval;
  const thing = nameOf(approval);
  switch (state) {
    case "allowed":
    case "denied":
      return `${decider?.name ?? "Somebody"} has decided about changes in ${thing} (${code}).`;
    case "open":
      return `${code} waits: ${votes} of ${quorum} people have applied changes in ${thing}; each needs all of them.`;
    case "expired":
      return (
        `The time to answer ${code} is over: the changes in ${thing} stay undecided. ` +
        `The operator can still decide: ${ownCommand(`mounts diff ${approval.group}`)}`
      );
    case "cancelled":
      return `${code} is no longer needed: ${whyCancelled(approval)}.`;
  }
  return code;
}

function describeYes({ about, scope = "once" }: Approval, who: string, call: string): string {
  if (about === undefined) return `${who} has allowed ${call} ${scopes[scope]}.`;
  return `${who} has ${about === "form" ? "answered" : "allowed"} ${call}.`;
}

function nameOf(approval: Approval): string {
  if (approval.about === undefined) return plainSentence(approval.tool);
  return approval.about === "form" ? `what ${plainSentence(approval.tool)} asks` : changedThing(approval);
}

/** Reason of a cancellation. */
export function whyCancelled({ about, reason }: Pick<Approval, "about" | "reason">): string {
  if (about === "review")
    return reason === undefined
      ? "nothing that is undecided is left"
      : `the folder has changed again, and ${reason} asks about all of it`;
  if (about === "description") return "the description of the tool has changed again, or it was allowed elsewhere";
  return about === "form" ? "the call that asked has ended" : "its turn has ended";
}

/** Outcome of an allowed change that is not in its file. */
export function describeOutcome(
  approval: Pick<Approval, "about" | "code" | "tool" | "input">,
  outcome: ChangeOutcome,
): string {
  const { code } = approval;
  const thing = changedThing(approval);
  const begin = `${thing.charAt(0).toUpperCase()}${thing.slice(1)}`;
  if (outcome === "changed" && approval.about === "description")
    return `${begin} has changed since ${code} was asked: it is not used.`;
  if (outcome === "changed")
    return `${begin} has changed since ${code} was asked. Nothing was written; it has to be proposed again.`;
  return `${begin} could not be written (${code}). Nothing was changed; the log of the host says why.`;
}

/** Reason why it cannot be allowed for as long as that; undefined when it can. */
export function scopeFault(approval: Approval, scope: ApprovalScope): string | undefined {
  const widest = widestScope(approval);
  if (approvalScopes.indexOf(scope) <= approvalScopes.indexOf(widest)) return undefined;
  if (approval.change) return `${approval.code} is a change: it can only be allowed once.`;
  if (widest === "once") return undefined;
  return `${approval.code} has an expansion, so it differs from run to run: it can be allowed for a ${widest} at most.`;
}

/** Reason for the model why a call was not run; one that people gave is of their role. */
export function denialForModel(approval: Approval): Sourced {
  const { decider, reason } = approval;
  if (decider === undefined) return sourced(`nobody answered within ${inMinutes(minutesOf(approval))}`, []);
  if (decider.actor === "host")
    return sourced(`The operator's policy has changed since this was asked: ${reason ?? "it is denied now"}.`, []);
  const by = sourced(decider.role, []);
  if (reason === undefined) return ofHost`denied by ${by}: no reason was given`;
  return ofHost`denied by ${by}: ${sourced(reason, [decider.role])}`;
}

/** Said by the host in the chat that was asked, if one was. */
export function noticesIn(
  approval: Pick<Approval, "group" | "channel" | "chat" | "turn">,
  text: string,
): readonly OutgoingDraft[] {
  return approval.channel === "" ? [] : [noticeIn(approval, text)];
}

export function noticeIn(
  { group, channel, chat, turn }: Pick<Approval, "group" | "channel" | "chat" | "turn">,
  text: string,
): OutgoingDraft {
  return { group, channel, chat, kind: "notice", text, inReplyTo: [], turn };
}

function minutesOf({ askedAt, expiresAt }: Approval): number {
  return (expiresAt - askedAt) / 60_000;
}
