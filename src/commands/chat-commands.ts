import type { Group, RequestSettlement } from "../domain/group.ts";
import type { OutgoingDraft } from "../domain/message.ts";
import { mainSessionKey } from "../domain/session.ts";
import type { StepBody, Turn } from "../domain/turn.ts";
import type { Clock } from "../lib/clock.ts";
import { quotedName } from "../lib/plain-words.ts";
import type { InterventionStore, PendingCommand, SessionStore, SetAside, SetAsideWords } from "../stores/store.ts";
import { closingStep } from "../turns/closing-step.ts";
import { draftFor } from "../turns/turn-options.ts";

export interface ChatCommandOptions {
  readonly store: {
    readonly interventions: Pick<InterventionStore, "commands" | "carryOut">;
    readonly sessions: Pick<SessionStore, "open">;
  };
  /** Puts on record that the command is going to be carried out. */
  readonly announce: (group: Group, pending: PendingCommand) => Promise<void>;
  /** The store has ended this turn: whoever works on it has to let go. */
  readonly turnEnded: (turn: Turn, reason: string) => Promise<void>;
  /** A new conversation has begun: ends the container of the old one, with all that still runs in it. */
  readonly conversationEnded: (group: Group) => Promise<void>;
  /** What comes of `/approve` or `/deny`; called again for the same one as long as it was not written. */
  readonly answer: (pending: PendingCommand) => Promise<{
    readonly text: string;
    readonly outgoing: readonly OutgoingDraft[];
    readonly settles?: RequestSettlement | undefined;
  }>;
  /** What a member may know of how things stand, a few lines. */
  readonly describe: (group: Group) => Promise<string>;
  readonly estimateTokens: (step: StepBody) => number;
  readonly deliver: () => void;
  readonly clock: Clock;
}

/**
 * Carries out the commands that were said in a group and have not been carried out, in order. Each takes effect once, with
 * its notice, in one transaction; what rejects is left for the next call. May be called any number of times at once.
 */
export type RunChatCommands = (group: Group) => Promise<void>;

export function createChatCommands(options: ChatCommandOptions): RunChatCommands {
  const { interventions, sessions } = options.store;
  return async (group) => {
    for (const pending of await interventions.commands(group)) {
      await options.announce(group, pending);
      const { command, message } = pending;
      const at = options.clock.now();
      const reason = `Stopped by ${quotedName(message.sender.name)}.`;
      const answer = isAnswer(command) ? await options.answer(pending) : undefined;
      const text = command === "status" ? await options.describe(group) : answer?.text;
      const renews = command === "new" ? (await sessions.open(mainSessionKey(group), group.name)).id : undefined;
      const done = await interventions.carryOut(message.seq, {
        at,
        stops: command === "stop" || command === "new",
        renews,
        settles: answer?.settles,
        tell: (found): SetAsideWords => ({
          reason,
          lastStep: closingStep(reason, { at, estimateTokens: options.estimateTokens }),
          outgoing: [
            ...notices(group, pending, { found, reason, at, text: text ?? wording(command, found) }),
            ...(answer?.outgoing ?? []),
          ],
        }),
      });
      if (!done) continue;
      for (const { turn } of done.turns) await options.turnEnded(turn, reason);
      if (renews !== undefined) await options.conversationEnded(group);
      options.deliver();
    }
  };
}

function isAnswer(command: PendingCommand["command"]): boolean {
  return command === "approve" || command === "deny";
}

/** One for each turn that was ended and would have said something here, then the one that answers the command and what was dropped with it. */
function notices(
  group: Group,
  { message }: PendingCommand,
  { found, reason, at, text }: { found: SetAside; reason: string; at: number; text: string },
): OutgoingDraft[] {
  const heard = found.turns.filter(({ turn }) => turn.replyTo.kind === "chat");
  const ended = heard.map(({ turn, messages }) => {
    const elapsedMs = at - (messages[0]?.receivedAt ?? turn.startedAt);
    const inReplyTo = messages.map(({ id }) => id);
    return draftFor(group, { kind: "notice", text: reason, inReplyTo, turn: turn.id, elapsedMs });
  });
  const inReplyTo = [message.id, ...found.waiting.map(({ id }) => id)];
  return [...ended, draftFor(group, { kind: "notice", text, inReplyTo, turn: undefined })];
}

function wording(command: PendingCommand["command"], { turns, waiting }: SetAside): string {
  if (command === "new") {
    return "A new conversation has begun: what was said before is forgotten, and what the agent still had running is ended. Files in the group's folder are kept.";
  }
  const dropped =
    waiting.length > 0
      ? ` ${waiting.length} waiting ${waiting.length === 1 ? "message was" : "messages were"} dropped.`
      : "";
  const stopped = turns.length > 0 ? "Stopping." : waiting.length > 0 ? "Stopped." : "There is nothing to stop.";
  return stopped + dropped;
}
