import type { AcceptMessage, TakeReaction } from "../../channels/channel.ts";
import { agentNameOf } from "../../config/configured/agents.ts";
import type { Outbox } from "../../delivery/outbox.ts";
import type { Progress } from "../../delivery/progress.ts";
import { folderOf } from "../../domain/turns/session.ts";
import { answerInReply } from "../../intake/addressing/answer-in-reply.ts";
import type { Admissions } from "../../intake/chats/admissions.ts";
import { createAutoRegister } from "../../intake/chats/auto-register.ts";
import type { GroupRegistry } from "../../intake/chats/group-registry.ts";
import { GroupWakes } from "../../intake/group-wakes.ts";
import type { IntakeGuard } from "../../intake/limits/intake-guard.ts";
import { limitsOf, routerLimits } from "../../intake/limits/limits.ts";
import { refuseWhileStopped } from "../../intake/limits/refuse-while-stopped.ts";
import type { TurnPace } from "../../intake/limits/turn-pace.ts";
import { createRouter } from "../../intake/router.ts";
import { createTakeReaction } from "../../intake/take-reaction.ts";
import { commandsOf } from "../../surfaces/chat/catalog.ts";
import { mainSessionsOf, type SessionQueue } from "../../work/queue/session-queue.ts";
import { openInbox } from "../data/files.ts";
import type { AppContext } from "../context.ts";
import type { Entrances } from "./entrances.ts";
import type { LazyMemories } from "../memory/memory-when-enabled.ts";
import type { Approvals } from "../people/approvals.ts";
import { createNaming, createStrangers } from "../people/onboarding.ts";
import { createAccessOf } from "../people/people.ts";
import type { Interventions } from "../turns/interventions.ts";

interface IntakeOptions {
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
  /** Told about messages for the agent while they are stored. */
  readonly memories: Pick<LazyMemories, "foresee">;
}

/** Takes messages and reactions from channels. */
export interface Intake {
  readonly accept: AcceptMessage;
  readonly reacted: TakeReaction;
}

/** From the channels to the queue. */
export async function createIntake(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: IntakeOptions,
): Promise<Intake> {
  const { metrics } = context;
  const { groups, guard, interventions, queue, approvals } = options;
  const inbox = stack.use(await openInbox(context, groups));
  const wakes = stack.use(
    new GroupWakes({
      groups,
      guard,
      wake: (group) => mainSessionsOf(group).forEach((queued) => queue.wake(queued)),
      cameLate: (group) => interventions.cameLate(group),
      runCommands: (group) => interventions.runCommands(group),
    }),
  );
  const route = openRouter(context, options, { inbox, wakes });
  const react = createTakeReaction({
    registry: groups,
    intake: () => guard.state(),
    retryAfterS: routerLimits.retryAfterS,
    access: createAccessOf(context),
    answer: approvals.answerByReaction,
  });
  return {
    accept: async (message) => {
      const receipt = await refuseWhileStopped(guard, () => route(message));
      // Not an event: what a flood is refused must not fill the store.
      metrics.messageIn(message.channel, receipt);
      return receipt;
    },
    reacted: (reaction) => refuseWhileStopped(guard, () => react(reaction)),
  };
}

function openRouter(
  context: AppContext,
  options: IntakeOptions,
  { inbox, wakes }: { readonly inbox: Awaited<ReturnType<typeof openInbox>>; readonly wakes: GroupWakes },
): AcceptMessage {
  const { config, live, store, clock, publish } = context;
  const { groups, outbox, guard, memories, progress, approvals, admissions } = options;
  return createRouter({
    registry: groups,
    store,
    get assistantName() {
      return config.assistant.name;
    },
    agentNameOf: (group, agent = group.agent) => agentNameOf(config, agent),
    intake: () => guard.state(),
    autoRegister: createAutoRegister({
      nameOf: createNaming(context, admissions),
      registry: groups,
      get limits() {
        return config.intake.autoRegister;
      },
      store,
      clock,
      publish,
    }),
    onStranger: createStrangers(context, options),
    fetchAll: (group, attachments, roomBytes) => inbox.fetchAll(group, attachments, roomBytes),
    hears: () => config.media.transcription !== "none",
    access: createAccessOf(context),
    pace: options.pace,
    wake: (group, late, agents) => wakes.wake(group, late, agents),
    coming: (group, message, agents) => {
      for (const folder of agents?.map((agent) => folderOf(group, agent)) ?? [group.name])
        memories.foresee(folder, message.text);
    },
    received: (group, message) => progress.received(group, message),
    lateMs: (group) => live.groupOf({ name: group }).turns.catchUpMinutes * 60_000,
    commandsOf: (group) => commandsOf(group, config.memory.enabled),
    answerInReply: (message) => {
      const agent = groups.find(message.channel, message.chat)?.agent;
      const formsAwaited = approvals.forms.areAwaited;
      return answerInReply({ store, assistantName: agentNameOf(config, agent), formsAwaited }, message);
    },
    runCommands: (group) => wakes.runCommands(group),
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
}
