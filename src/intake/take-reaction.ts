import type { IntakeState, Receipt, TakeReaction } from "../channels/channel.ts";
import type { Group } from "../domain/chats/group.ts";
import type { IncomingReaction } from "../domain/chats/message.ts";
import type { Role } from "../domain/people/role.ts";
import type { JudgeHearing } from "../rights/people/hearing.ts";
import type { GroupRegistry } from "./chats/group-registry.ts";

/** Maximum length of an id; no channel has longer ones. */
const idChars = 1_024;

export interface TakeReactionOptions {
  readonly registry: Pick<GroupRegistry, "find">;
  readonly intake: () => IntakeState;
  readonly retryAfterS: number;
  /** Judges how far somebody is heard. */
  readonly access: JudgeHearing;
  /** Handles a reaction in a group. `trigger`: role that its sender lacks to be heard there. */
  readonly answer: (
    group: Group,
    reaction: IncomingReaction,
    trigger: Role | undefined,
  ) => Promise<{ readonly duplicate: boolean }>;
}

const nothing: Receipt = { outcome: "stored", duplicate: false };

/**
 * Sees that nothing comes of reactions in chats that are no group, or of people who are not heard. Nothing of them is
 * kept here.
 */
export function createTakeReaction(options: TakeReactionOptions): TakeReaction {
  return async (reaction) => {
    const intake = options.intake();
    if (!intake.open) {
      const { code, reason } = intake;
      return { outcome: "refused", code, reason, retryAfterS: options.retryAfterS, stopped: true };
    }
    const { channel, chat, sender, id } = reaction;
    const group = options.registry.find(channel, chat);
    if (!group) return { outcome: "unknown-chat" };
    if (sender.id.length > idChars || id.length > idChars) return nothing;
    const hearing = options.access(group, { channel, id: sender.id });
    if (hearing.may === "nothing") return nothing;
    const trigger = hearing.may === "speak" ? hearing.needed : undefined;
    // A group may be found by its name too.
    const { duplicate } = await options.answer(group, { ...reaction, chat: group.chat }, trigger);
    return { outcome: "stored", duplicate };
  };
}
