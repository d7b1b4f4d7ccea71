import type { AnswerWay, Approval, ApprovalAnswer } from "../../domain/rights/approval.ts";
import type { Group } from "../../domain/chats/group.ts";
import type { OutgoingDraft } from "../../domain/chats/message.ts";
import type { Turn } from "../../domain/turns/turn.ts";
import { isAtLeast, type Role } from "../../domain/people/role.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { InterventionStore, PendingCommand, SetAside, SetAsideWords } from "../../stores/contract/store.ts";
import { closingStep } from "../../turns/ending/closing-step.ts";
import { answering, draftFor } from "../../turns/drafts.ts";
import { commandsOf } from "./catalog.ts";
import type { CommandOutcome, CommandServices, GivenAnswer } from "./command.ts";
import { stoppedBy } from "./set-aside.ts";

export interface ChatCommandOptions {
  readonly store: { readonly interventions: Pick<InterventionStore, "commands" | "carryOut"> };
  readonly services: CommandServices;
  /** Puts on record that the command is going to be carried out. */
  readonly announce: (group: Group, pending: PendingCommand) => Promise<void>;
  /** Records an answer before it counts. */
  readonly announceAnswer: (approval: Approval, answer: Omit<ApprovalAnswer, "at">, way: AnswerWay) => Promise<void>;
  /** Puts on record that it is not, because its sender may not. */
  readonly refused: (group: Group, pending: PendingCommand, needed: Role) => Promise<void>;
  /** Tells the worker on this turn that the store has ended it. */
  readonly turnEnded: (turn: Turn, reason: string) => Promise<void>;
  /** A new conversation has begun: ends the container of the old one, with all that still runs in it. */
  readonly conversationEnded: (group: Group) => Promise<void>;
  /** Called after an answer to a question. */
  readonly answered: (answer: GivenAnswer | undefined) => void;
  readonly compactions: {
    /** Called after a compaction request. */
    readonly resume: () => Promise<void>;
    /** Those of this group end. */
    readonly stopped: (group: string) => Promise<void>;
  };
  readonly deliver: () => void;
  readonly clock: Clock;
}

/**
 * Carries out the commands that were said in a group and have not been carried out, in order. Each takes effect once,
 * with its notice, in one transaction; what rejects is left for the next call. May be called any number of times at
 * once.
 */
export type RunChatCommands = (group: Group) => Promise<void>;

export function createChatCommands(options: ChatCommandOptions): RunChatCommands {
  const { interventions } = options.store;
  return async (group) => {
    for (const pending of await interventions.commands(group)) {
      // Later ones wait, too: each takes effect in its order.
      if (mustWait(options, group, pending)) return;
      await options.announce(group, pending);
      const at = options.clock.now();
      const reason = stoppedBy(pending.message.sender);
      const outcome = await outcomeOf(options, group, pending);
      const { text, stops = false, choose, renews, compacts, settles, answers, outgoing = [] } = outcome;
      if (answers) await options.announceAnswer(answers.to, answers.answer, wayOf(pending));
      const done = await interventions.carryOut(pending.message.seq, {
        at,
        stops,
        choose,
        renews,
        compacts,
        settles,
        answers: answers && { ...answers.answer, at },
        tell: (ended, found): SetAsideWords => {
          const said = typeof text === "function" ? text(ended, found) : text;
          const notices = said === undefined ? [] : [noticeFor(group, pending, { found: ended, at, text: said })];
          return {
            reason,
            lastStep: closingStep(reason, at),
            outgoing: [...notices, ...outgoing],
          };
        },
      });
      if (!done) continue;
      for (const { turn } of done.turns) await options.turnEnded(turn, reason);
      await follow(options, group, outcome);
      if (done.answered) options.answered(done.answered.outcome === "allowed" ? answers : undefined);
      options.deliver();
    }
  };
}

/** True while the host starts, and what the command works with is missing. */
function mustWait({ services }: ChatCommandOptions, group: Group, { command }: PendingCommand): boolean {
  const known = commandsOf(group, services.memories.isEnabled()).find(({ name }) => name === command);
  return known?.isOperation === true && services.operations() === undefined;
}

/** Carries out a command's effects beyond its group's turns. */
async function follow(
  { compactions, conversationEnded }: ChatCommandOptions,
  group: Group,
  { stops = false, compacts, renews }: CommandOutcome,
): Promise<void> {
  if (stops) await compactions.stopped(group.name);
  if (compacts) await compactions.resume();
  if (renews !== undefined) await conversationEnded(group);
}

/** Whoever writes no command has said one word to the card. */
function wayOf({ message: { text } }: PendingCommand): AnswerWay {
  return /(?:^|\s)\//.test(text) ? "command" : "reply";
}

/** A command may have been stored by a version that knew others, and its sender may have had another role. */
async function outcomeOf(
  { services, refused }: ChatCommandOptions,
  group: Group,
  pending: PendingCommand,
): Promise<CommandOutcome> {
  const all = commandsOf(group, services.memories.isEnabled());
  const command = all.find(({ name }) => name === pending.command);
  if (!command) return { text: `Unknown command /${pending.command}. Use /help to list all commands.` };
  const { channel, sender } = pending.message;
  const asker = services.roles.standingOf(group, { channel, id: sender.id });
  if (!isAtLeast(asker.role, command.needs)) {
    await refused(group, pending, command.needs);
    return {
      text: `/${command.name} needs the role ${command.needs}, and you are a ${asker.role} here. /whoami explains why.`,
    };
  }
  const commands = all.filter(({ needs }) => isAtLeast(asker.role, needs));
  return command.run({ group, pending, asker, commands, agentName: services.agentNameOf(group) }, services);
}

/** Answers the command, what was dropped with it, and the turns that were ended and would have said something here. */
function noticeFor(
  group: Group,
  { message }: PendingCommand,
  { found, at, text }: { found: SetAside; at: number; text: string },
): OutgoingDraft {
  const heard = found.turns.filter(({ turn }) => turn.replyTo.kind === "chat");
  const asked = heard.flatMap(({ messages }) => messages);
  const about = answering([...asked, ...found.waiting, message]);
  const turn = heard.length === 1 ? heard[0]?.turn : undefined;
  const elapsedMs = turn && Math.max(0, at - (asked[0]?.receivedAt ?? turn.startedAt));
  return draftFor(group, { kind: "notice", text, ...about, turn: turn?.id, elapsedMs });
}
