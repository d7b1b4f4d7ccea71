import type { Group } from "../domain/chats/group.ts";
import type { Publish } from "../domain/events/event.ts";
import type { Turn } from "../domain/turns/turn.ts";
import { PendingCheck } from "../lib/pending-check.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { CommandStore, SetAside, SetAsideWords } from "../stores/contract/store.ts";
import { closingStep } from "./ending/closing-step.ts";
import { answering, draftFor } from "./drafts.ts";

export interface CatchUpOptions {
  readonly store: { readonly commands: Pick<CommandStore, "giveUpOld" | "giveUpLate"> };
  /** Older messages of this group are not answered after an absence. */
  readonly limitMinutes: (group: string) => number;
  /** Puts the end of a turn on record that was given up. */
  readonly turnEnded: (turn: Turn, reason: string) => Promise<void>;
  /** Sends the notices. */
  readonly deliver: () => void;
  readonly publish: Publish<"limit.reached">;
  readonly clock: Clock;
}

/**
 * Gives up messages that are too old to be answered after an absence, as an answer would surprise more than help. They
 * become context, and one notice that answers all of them says so.
 */
export class CatchUp {
  readonly #options: CatchUpOptions;
  readonly #late = new PendingCheck();

  constructor(options: CatchUpOptions) {
    this.#options = options;
  }

  /**
   * Gives up what was stored before this start of the host and was sent too long ago. A turn that an earlier life of
   * the host had begun goes on, unless nothing has been said or done in it for as long.
   */
  async giveUpOld(group: Group): Promise<void> {
    const { store, clock, limitMinutes } = this.#options;
    const at = clock.now();
    const before = at - limitMinutes(group.name) * 60_000;
    const change = { at, before, tell: (old: SetAside) => wording(this.#options, group, { old, at }) };
    await this.#conclude(group, await store.commands.giveUpOld(group, change));
  }

  /** Notes that something has reached the host too long after it was sent. */
  cameLate(group: string): void {
    this.#late.raise(group);
  }

  /** Gives up what its platform kept for too long before it handed it over. */
  giveUpLate(group: Group): Promise<void> {
    return this.#late.settle(group.name, async () => {
      const { store, clock, deliver } = this.#options;
      const at = clock.now();
      const change = { at, tell: (old: SetAside) => wording(this.#options, group, { old, at }) };
      await this.#conclude(group, await store.commands.giveUpLate(group, change));
      deliver();
    });
  }

  async #conclude({ name: group }: Group, found: SetAside): Promise<void> {
    const { limitMinutes, turnEnded, publish } = this.#options;
    const minutes = limitMinutes(group);
    for (const { turn } of found.turns) await turnEnded(turn, reasonFor(minutes));
    const messages = messagesOf(found).length;
    if (messages === 0) return;
    const data = { limit: "catch-up-minutes", allowed: minutes, messages };
    await publish({ type: "limit.reached", group, actor: "host", data });
  }
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
