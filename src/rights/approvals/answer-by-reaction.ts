import type { Approval } from "../../domain/rights/approval.ts";
import { memberActor } from "../../domain/people/actor.ts";
import type { Group } from "../../domain/chats/group.ts";
import type { IncomingReaction } from "../../domain/chats/message.ts";
import type { MemberId } from "../../domain/people/person.ts";
import type { Role } from "../../domain/people/role.ts";
import type { Publish } from "../../domain/events/event.ts";
import { AppError } from "../../lib/app-error.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Store } from "../../stores/contract/store.ts";
import { type Answering, deciderOf, formFault, lengthFault, roleFault } from "./answer-rules.ts";
import type { ApprovalService } from "./approval-service.ts";
import { allowedBy } from "./thumbs.ts";
import { noticeIn } from "./words.ts";

/** Maximum people told that they may not answer a card; further ones are only recorded. */
const mostRefused = 20;

export interface AnswerByReactionOptions {
  readonly store: Pick<Store["approvals"], "ofCard" | "get" | "reactionOf" | "refuseReaction">;
  readonly service: Pick<ApprovalService, "answer" | "endIfOver">;
  readonly standingOf: (group: Group, who: MemberId) => Pick<Answering, "role" | "person" | "keys">;
  readonly publish: Publish<"access.refused">;
  readonly deliver: () => void;
  readonly clock: Pick<Clock, "now">;
}

/**
 * Handles a reaction to a message of the host: a thumb on an open card answers it, once; a person without the right is
 * told so once per card. All others are ignored. `trigger`: role from which people are heard in the group.
 */
export type AnswerByReaction = (
  group: Group,
  reaction: IncomingReaction,
  trigger: Role | undefined,
) => Promise<{ readonly duplicate: boolean }>;

const ignored = { duplicate: false } as const;

export function createAnswerByReaction(options: AnswerByReactionOptions): AnswerByReaction {
  return async (group, reaction, trigger) => {
    const allow = allowedBy(reaction.emoji);
    const card = allow === undefined ? undefined : await cardOf(options, reaction);
    if (allow === undefined || !card) return ignored;
    const { channel, sender } = reaction;
    const who: Answering = { channel, sender, ...options.standingOf(group, { channel, id: sender.id }) };
    const before = await options.store.reactionOf(card.code, deciderOf(who).person);
    if (before?.id === idOf(reaction)) return { duplicate: true };
    const approval = await openApproval(options, card);
    if (!approval) return ignored;
    const given = { approval, reaction, who, allow };
    const refusal = refusalOf(given, trigger);
    if (refusal === undefined) await answer(options, given);
    else if (before?.refused !== true) await refuse(options, given, refusal);
    return ignored;
  };
}

/** Card behind the message, if it is in this chat. */
async function cardOf(
  { store }: AnswerByReactionOptions,
  { seq, channel, chat }: IncomingReaction,
): Promise<Approval | undefined> {
  const approval = await store.ofCard(seq);
  return approval?.channel === channel && approval.chat === chat ? approval : undefined;
}

/** The approval, if it can still be answered. */
async function openApproval(
  { store, service }: AnswerByReactionOptions,
  { code, state }: Approval,
): Promise<Approval | undefined> {
  if (state !== "open") return undefined;
  await service.endIfOver(code);
  const approval = await store.get(code);
  return approval?.state === "open" ? approval : undefined;
}

interface Given {
  readonly approval: Approval;
  readonly reaction: IncomingReaction;
  readonly who: Answering;
  readonly allow: boolean;
}

/** Refused thumb: `text` is for its sender. */
interface Refusal {
  readonly text: string;
  /** Role that the sender would need. */
  readonly needed?: Role;
}

function refusalOf({ approval, who, allow }: Given, trigger: Role | undefined): Refusal | undefined {
  for (const needed of [approval.approvers, ...(trigger === undefined ? [] : [trigger])]) {
    const text = roleFault(approval, who, needed);
    if (text !== undefined) return { text, needed };
  }
  const text = allow ? (formFault(approval) ?? lengthFault(approval)) : undefined;
  return text === undefined ? undefined : { text };
}

/** Answers; when somebody else was faster, silently, as people can see it. */
async function answer(
  { service }: AnswerByReactionOptions,
  { approval: { code }, reaction, who, allow }: Given,
): Promise<void> {
  const given = { code, allow, scope: "once", by: deciderOf(who), reaction: idOf(reaction) } as const;
  try {
    await service.answer(given, { way: "reaction" });
  } catch (error) {
    if (!(error instanceof AppError) || (error.code !== "conflict" && error.code !== "expired")) throw error;
  }
}

async function refuse(
  { store, publish, deliver, clock }: AnswerByReactionOptions,
  { approval, reaction, who }: Given,
  { text, needed }: Refusal,
): Promise<void> {
  const { code, group, channel, chat } = approval;
  if (needed !== undefined) {
    const data = { rule: `answering ${code} needs ${needed}`, channel, chat };
    await publish({ type: "access.refused", group, actor: memberActor(who.sender.id), data });
  }
  const refused = { code, person: deciderOf(who).person, id: idOf(reaction) };
  const refusal = { at: clock.now(), most: mostRefused, outgoing: [noticeIn(approval, text)] };
  if (await store.refuseReaction(refused, refusal)) deliver();
}

/** Different people, and chats, may call theirs by the same id. */
function idOf({ channel, sender, id }: IncomingReaction): string {
  return JSON.stringify([channel, sender.id, id]);
}
