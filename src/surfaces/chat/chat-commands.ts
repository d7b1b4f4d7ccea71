import type { AnswerWay } from "../../domain/rights/approval.ts";
import type { Group } from "../../domain/chats/group.ts";
import type { OutgoingDraft } from "../../domain/chats/message.ts";
import type { Turn } from "../../domain/turns/turn.ts";
import type { Publish } from "../../domain/events/event.ts";
import type { Fingerprint } from "../../domain/fingerprint.ts";
import { memberActor } from "../../domain/people/actor.ts";
import { isAtLeast, type Role } from "../../domain/people/role.ts";
import { mainSessionKeys } from "../../domain/turns/session.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { ApprovalService } from "../../rights/approvals/approval-service.ts";
import type { Forms } from "../../rights/approvals/forms/forms.ts";
import type { SessionPool } from "../../sandbox/pool/pool.ts";
import type { SessionStore } from "../../stores/contract/session-store.ts";
import type { CommandStore, PendingCommand, SetAside, SetAsideWords } from "../../stores/contract/store.ts";
import type { Compactions } from "../../turns/compaction/compactions.ts";
import { closingStep } from "../../turns/ending/closing-step.ts";
import { answering, draftFor } from "../../turns/drafts.ts";
import { commandsOf } from "./catalog.ts";
import type { CommandOutcome, CommandServices, GivenAnswer } from "./command.ts";
import { stoppedBy } from "./set-aside.ts";

export interface ChatCommandOptions {
  readonly store: {
    readonly commands: Pick<CommandStore, "carryOut" | "pending">;
    readonly sessions: Pick<SessionStore, "open">;
  };
  readonly services: CommandServices;
  readonly approvals: Pick<ApprovalService, "announce" | "checkNow">;
  readonly forms: Pick<Forms, "fill">;
  readonly compactions: Pick<Compactions, "resume" | "stopped">;
  readonly pool: Pick<SessionPool, "retire">;
  /** Sub-agents, whose turns end with a conversation. */
  readonly subAgents: { turnEnded(): void };
  /** Tells the worker on this turn that the store has ended it. */
  readonly turnEnded: (turn: Turn, reason: string) => Promise<void>;
  readonly deliver: () => void;
  readonly publish: Publish<"command.given" | "access.refused">;
  readonly fingerprint: (text: string) => Fingerprint;
  readonly clock: Clock;
}

/**
 * Carries out the commands that were said in a group and have not been carried out, in order. Each takes effect once,
 * with its notice, in one transaction; what rejects is left for the next call. May be called any number of times at
 * once.
 */
export type RunChatCommands = (group: Group) => Promise<void>;

export function createChatCommands(options: ChatCommandOptions): RunChatCommands {
  const { commands } = options.store;
  return async (group) => {
    for (const pending of await commands.pending(group)) {
      // Later ones wait, too: each takes effect in its order.
      if (mustWait(options, group, pending)) return;
      await announce(options, group, pending);
      const at = options.clock.now();
      const reason = stoppedBy(pending.message.sender);
      const outcome = await outcomeOf(options, group, pending);
      const { text, stops = false, choose, renews, compacts, settles, answers, outgoing = [] } = outcome;
      if (answers) await options.approvals.announce(answers.to, answers.answer, wayOf(pending));
      const done = await commands.carryOut(pending.message.seq, {
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
      if (done.answered) takeAnswer(options, done.answered.outcome === "allowed" ? answers : undefined);
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
  options: ChatCommandOptions,
  group: Group,
  { stops = false, compacts, renews }: CommandOutcome,
): Promise<void> {
  const { compactions } = options;
  if (stops) await compactions.stopped(group.name);
  if (compacts) await compactions.resume();
  if (renews !== undefined) await endOldContainers(options, group);
}

/** Fills a form with an answer that allows it, and has decisions recorded. */
function takeAnswer({ approvals, forms }: ChatCommandOptions, allowed: GivenAnswer | undefined): void {
  if (allowed?.values) forms.fill(allowed.to.code, allowed.values);
  approvals.checkNow();
}

/** Ends the containers of a group's old conversations, with all that still runs in them. */
async function endOldContainers({ store, pool, subAgents }: ChatCommandOptions, group: Group): Promise<void> {
  subAgents.turnEnded();
  for (const key of mainSessionKeys(group))
    await pool.retire(await store.sessions.open(key, group.name), "a new conversation has begun");
}

/** Puts on record that a command is about to be carried out. */
function announce(
  { publish, fingerprint }: ChatCommandOptions,
  { name: group }: Group,
  { command, argument, message: { id, sender } }: PendingCommand,
): Promise<void> {
  const said = argument === undefined ? undefined : fingerprint(argument);
  const data = { command, argument, said, id };
  return publish({ type: "command.given", group, actor: memberActor(sender.id), data });
}

/** Puts on record that a command is not carried out, because its sender lacks the role. */
function refuse(
  { publish }: ChatCommandOptions,
  { name: group }: Group,
  { pending, needed }: { readonly pending: PendingCommand; readonly needed: Role },
): Promise<void> {
  const { command, message } = pending;
  const { channel, chat, sender } = message;
  const data = { rule: `/${command} needs ${needed}`, channel, chat, command };
  return publish({ type: "access.refused", group, actor: memberActor(sender.id), data });
}

/** Whoever writes no command has said one word to the card. */
function wayOf({ message: { text } }: PendingCommand): AnswerWay {
  return /(?:^|\s)\//.test(text) ? "command" : "reply";
}

/** A command may have been stored by a version that knew others, and its sender may have had another role. */
async function outcomeOf(options: ChatCommandOptions, group: Group, pending: PendingCommand): Promise<CommandOutcome> {
  const { services } = options;
  const all = commandsOf(group, services.memories.isEnabled());
  const command = all.find(({ name }) => name === pending.command);
  if (!command) return { text: `Unknown command /${pending.command}. Use /help to list all commands.` };
  const { channel, sender } = pending.message;
  const asker = services.roles.standingOf(group, { channel, id: sender.id });
  if (!isAtLeast(asker.role, command.needs)) {
    await refuse(options, group, { pending, needed: command.needs });
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
