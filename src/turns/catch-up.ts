import type { Group } from "../domain/chats/group.ts";
import type { Turn } from "../domain/turns/turn.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { InterventionStore, SetAside, SetAsideWords } from "../stores/contract/store.ts";
import { closingStep } from "./ending/closing-step.ts";
import { answering, draftFor } from "./drafts.ts";

export interface CatchUpOptions {
  readonly store: { readonly interventions: Pick<InterventionStore, "giveUpOld" | "giveUpLate"> };
  /** Older messages of this group are not answered after an absence. */
  readonly limitMinutes: (group: string) => number;
  /** Called for a turn that was given up. */
  readonly turnEnded: (turn: Turn, reason: string) => Promise<void>;
  /** Called with the number of unanswered messages. */
  readonly gaveUp: (group: Group, messages: number, limitMinutes: number) => Promise<void>;
  readonly clock: Clock;
}

/** Gives up what is too old to be answered in a group. */
export type GiveUp = (group: Group) => Promise<void>;

/**
 * After an absence: what a group said too long ago is not answered, as an answer would surprise more than help. It
 * becomes context, and one notice that answers all of it says so. `waitedHere`: at the start of the host, of what was
 * stored before it, by when it was sent. A turn that an earlier life of the host had begun goes on, unless nothing has
 * been said or done in it for as long. `cameLate`: of what its platform kept for so long before it could be handed
 * over.
 */
export function createCatchUp(options: CatchUpOptions): { readonly waitedHere: GiveUp; readonly cameLate: GiveUp } {
  const { interventions } = options.store;
  const conclude = async (group: Group, found: SetAside): Promise<void> => {
    const minutes = options.limitMinutes(group.name);
    for (const { turn } of found.turns) await options.turnEnded(turn, reasonFor(minutes));
    const count = messagesOf(found).length;
    if (count > 0) await options.gaveUp(group, count, minutes);
  };
  return {
    waitedHere: async (group) => {
      const at = options.clock.now();
      const before = at - options.limitMinutes(group.name) * 60_000;
      const change = { at, before, tell: (old: SetAside) => wording(options, group, { old, at }) };
      await conclude(group, await interventions.giveUpOld(group, change));
    },
    cameLate: async (group) => {
      const at = options.clock.now();
      const change = { at, tell: (old: SetAside) => wording(options, group, { old, at }) };
      await conclude(group, await interventions.giveUpLate(group, change));
    },
  };
}

function wording(
  options: CatchUpOptions,
  group: Group,
  { old, at }: { readonly old: SetAside; readonly at: number },
): SetAsideWords {
  const minutes = options.limitMinutes(group.name);
  const reason = reasonFor(minutes);
  const about = answering(messagesOf(old));
  const turn = old.turns[0]?.turn.id;
  return {
    reason,
    lastStep: closingStep(reason, at),
    outgoing: [draftFor(group, { kind: "notice", text: notice(about.inReplyTo.length, minutes), ...about, turn })],
  };
}

function reasonFor(minutes: number): string {
  return `I was away for too long: this is older than ${wordsFor(minutes)}.`;
}

function messagesOf({ turns, waiting }: SetAside): SetAside["waiting"] {
  return [...turns.flatMap(({ messages }) => messages), ...waiting].toSorted((one, other) => one.seq - other.seq);
}

function notice(count: number, minutes: number): string {
  const which = count === 1 ? "1 message here is" : `${count} messages here are`;
  const them = count === 1 ? "it" : "them";
  return `I was away. ${which} older than ${wordsFor(minutes)}, so I have not answered ${them}; mention me again if it still matters.`;
}

function wordsFor(minutes: number): string {
  return minutes === 1 ? "1 minute" : `${minutes} minutes`;
}
