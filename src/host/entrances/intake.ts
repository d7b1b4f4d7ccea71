import type { AcceptMessage, IntakeState, Receipt, TakeReaction } from "../../channels/channel.ts";
import { agentNameOf } from "../../config/agents.ts";
import type { Progress } from "../../delivery/progress.ts";
import type { Group } from "../../domain/chats/group.ts";
import { folderOf } from "../../domain/turns/session.ts";
import type { Outbox } from "../../delivery/outbox.ts";
import { answerInReply } from "../../intake/addressing/answer-in-reply.ts";
import { commandsOf } from "../../surfaces/chat/catalog.ts";
import { AppError, isPassing } from "../../lib/app-error.ts";
import { mainSessionsOf, type SessionQueue } from "../../work/queue/session-queue.ts";
import { createAutoRegister } from "../../intake/chats/auto-register.ts";
import type { Admissions } from "../../intake/chats/admissions.ts";
import type { GroupRegistry } from "../../intake/chats/group-registry.ts";
import { type DayBudget, type RouterLimits, routerLimits } from "../../intake/limits/limits.ts";
import { createRouter } from "../../intake/router.ts";
import { createTakeReaction } from "../../intake/take-reaction.ts";
import type { Approvals } from "../people/approvals.ts";
import type { TurnPace } from "../../intake/limits/turn-pace.ts";
import type { AppContext } from "../context.ts";
import type { Entrances } from "./entrances.ts";
import { openInbox } from "../containers/files.ts";
import type { LazyMemories } from "../memory/memory-when-enabled.ts";
import { createAccessOf } from "../people/people.ts";
import type { IntakeGuard } from "../../intake/limits/intake-guard.ts";
import type { Interventions } from "../turns/interventions.ts";
import { createNaming, createStrangers } from "../people/onboarding.ts";
import { mebibyte } from "../../lib/text/bytes.ts";
import { Timers } from "../../lib/time/timers.ts";

export interface IntakeOptions {
  readonly groups: GroupRegistry;
  readonly queue: SessionQueue;
  readonly outbox: Outbox;
  readonly guard: IntakeGuard;
  readonly interventions: Interventions;
  readonly admissions: Pick<Admissions, "nameFor">;
  readonly approvals: Pick<Approvals, "answerByReaction" | "forms">;
  readonly entrances: Entrances;
  readonly pace: TurnPace;
  readonly progress: Progress;
  /** Told of what will wait for the agent, while it is stored. */
  readonly memories: Pick<LazyMemories, "foresee">;
}

/** What channels hand over to. */
export interface Taking {
  readonly accept: AcceptMessage;
  readonly reacted: TakeReaction;
}

const commandRetryMs = 2_000;
/** What a platform kept comes all at once: it gets one notice together, not one for each message. */
const backlogMs = 2_000;

/** From the channels to the queue: the router with what it needs, and a count of what came in. */
export async function createIntake(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: IntakeOptions,
): Promise<Taking> {
  const { config, live, store, clock, publish, metrics } = context;
  const { groups, outbox, guard } = options;
  const inbox = stack.use(await openInbox(context, options.groups));
  const timers = stack.use(new Timers());
  const accept = createRouter({
    registry: groups,
    store,
    get assistantName() {
      return config.assistant.name;
    },
    agentNameOf: (group, agent = group.agent) => agentNameOf(config, agent),
    intake: () => guard.state(),
    autoRegister: createRegistration(context, options),
    onStranger: createStrangers(context, options),
    fetchAll: (group, attachments, roomBytes) => inbox.fetchAll(group, attachments, roomBytes),
    hears: () => config.media.transcription !== "none",
    access: createAccessOf(context),
    pace: options.pace,
    wake: createWake(options, timers),
    coming: (group, message, agents) => {
      for (const folder of agents?.map((agent) => folderOf(group, agent)) ?? [group.name])
        options.memories.foresee(folder, message.text);
    },
    received: (group, message) => options.progress.received(group, message),
    lateMs: (group) => live.groupOf({ name: group }).turns.catchUpMinutes * 60_000,
    commandsOf: (group) => commandsOf(group, config.memory.enabled),
    answerInReply: (message) => {
      const agent = groups.find(message.channel, message.chat)?.agent;
      const formsAwaited = options.approvals.forms.areAwaited;
      return answerInReply({ store, assistantName: agentNameOf(config, agent), formsAwaited }, message);
    },
    runCommands: (group) => runCommands(options, timers, group),
    notify: async (draft) => {
      await store.outbox.add(draft, clock.now());
      outbox.wake();
    },
    get limits() {
      return limitsOf(config.intake);
    },
    clock,
    publish,
  });
  const acceptAndCount: AcceptMessage = async (message) => {
    const receipt = await orStopped(guard, () => accept(message));
    // Not an event: what a flood is refused must not fill the store.
    metrics.messageIn(message.channel, receipt);
    return receipt;
  };
  return { accept: acceptAndCount, reacted: createReactions(context, options) };
}

/** The same for reactions, of which few come to anything. */
function createReactions(context: AppContext, { groups, guard, approvals }: IntakeOptions): TakeReaction {
  const take = createTakeReaction({
    registry: groups,
    intake: () => guard.state(),
    retryAfterS: routerLimits.retryAfterS,
    access: createAccessOf(context),
    answer: approvals.answerByReaction,
  });
  return (reaction) => orStopped(guard, () => take(reaction));
}

/** Trouble of the machine is a refusal, and closes the intake. */
async function orStopped(guard: IntakeGuard, take: () => Promise<Receipt>): Promise<Receipt> {
  try {
    return await take();
  } catch (error) {
    if (!isPassing(error)) throw error;
    const isStopping = error instanceof AppError && error.code === "intake_stopped";
    if (!isStopping) guard.failed(error);
    const state = isStopping ? whileStopping : guard.state();
    const { code, reason } = state.open ? whileOpen : state;
    return { outcome: "refused", code, reason, retryAfterS: routerLimits.retryAfterS, stopped: true };
  }
}

/** Chats become groups by themselves where a channel says so. */
function createRegistration(
  context: AppContext,
  { groups: registry, admissions }: IntakeOptions,
): ReturnType<typeof createAutoRegister> {
  const { config, store, clock, publish } = context;
  return createAutoRegister({
    nameOf: createNaming(context, admissions),
    registry,
    get limits() {
      return config.intake.autoRegister;
    },
    store,
    clock,
    publish,
  });
}

function limitsOf(intake: AppContext["config"]["intake"]): RouterLimits {
  const { perSenderPerMinute, waitingTotal, perGroupPerDay, perMemberPerDay } = intake;
  return {
    ...routerLimits,
    perSenderPerMinute,
    waitingTotal,
    perGroupPerDay: inBytes(perGroupPerDay),
    perMemberPerDay: inBytes(perMemberPerDay),
  };
}

function inBytes({
  messages,
  megabytes,
  attachmentMegabytes,
}: AppContext["config"]["intake"]["perGroupPerDay"]): DayBudget {
  return { messages, bytes: megabytes * mebibyte, attachmentBytes: attachmentMegabytes * mebibyte };
}

/** Late messages wait until no more have come for a while: what is said to them is said once. */
function createWake(
  { queue, groups, interventions }: IntakeOptions,
  timers: Timers,
): (group: string, late: boolean, agents?: readonly string[]) => void {
  const waiting = new Map<string, Disposable>();
  const wake = (name: string, agents?: readonly string[]): void => {
    waiting.delete(name);
    const group = groups.byName(name);
    if (group) wakeAll(queue, agents ? { ...group, agents } : group);
  };
  return (group, late, agents) => {
    waiting.get(group)?.[Symbol.dispose]();
    if (!late) return wake(group, agents);
    interventions.cameLate(group);
    waiting.set(
      group,
      timers.after(backlogMs, () => wake(group)),
    );
  };
}

const whileStopping: IntakeState = { open: false, code: "stopping", reason: "the host is stopping" };
/** The trouble was over before it could be told. */
const whileOpen = { code: "store-failed", reason: "the store cannot be written" } as const;

/**
 * At once; what cannot be carried out now is retried, and before the group's next turn and at the next start at the
 * latest.
 */
async function runCommands(
  { interventions, guard, queue }: IntakeOptions,
  timers: Timers,
  group: Group,
): Promise<void> {
  try {
    await interventions.runCommands(group);
  } catch (error) {
    guard.failed(error);
    const retry = (): void => {
      void interventions.runCommands(group).catch(() => wakeAll(queue, group));
    };
    timers.after(commandRetryMs, retry);
  }
}

function wakeAll(queue: SessionQueue, group: Group): void {
  for (const queued of mainSessionsOf(group)) queue.wake(queued);
}
