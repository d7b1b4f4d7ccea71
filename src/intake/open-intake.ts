import type { AcceptMessage, Receipt, TakeReaction } from "../channels/channel.ts";
import type { Outbox } from "../delivery/outbox.ts";
import type { Progress } from "../delivery/progress.ts";
import type { Group } from "../domain/chats/group.ts";
import { folderOf } from "../domain/turns/session.ts";
import type { Store } from "../stores/contract/store.ts";
import { answerInReply, type AnswerInReplyOptions } from "./addressing/answer-in-reply.ts";
import type { GroupRegistry } from "./chats/group-registry.ts";
import { GroupWakes } from "./group-wakes.ts";
import type { AttachmentFetcher } from "./attachment-fetcher.ts";
import type { IntakeGuard } from "./limits/intake-guard.ts";
import { type IntakeSettings, limitsOf, routerLimits } from "./limits/limits.ts";
import { refuseWhileStopped } from "./limits/refuse-while-stopped.ts";
import { createRouter, type RouterOptions } from "./router.ts";
import { createTakeReaction, type TakeReactionOptions } from "./take-reaction.ts";

export interface OpenIntakeOptions extends Pick<
  RouterOptions,
  "access" | "autoRegister" | "clock" | "commandsOf" | "hears" | "lateMs" | "onStranger" | "pace" | "publish"
> {
  readonly groups: Pick<GroupRegistry, "byName" | "find">;
  readonly store: AnswerInReplyOptions["store"] &
    RouterOptions["store"] & { readonly outbox: Pick<Store["outbox"], "add"> };
  readonly settings: () => IntakeSettings;
  /** Name of the agent with this id; the assistant's for no id. */
  readonly agentNameOf: (agent: string | undefined) => string;
  readonly guard: Pick<IntakeGuard, "failed" | "state">;
  readonly attachments: Pick<AttachmentFetcher, "fetchAll">;
  readonly outbox: Pick<Outbox, "wake">;
  readonly progress: Pick<Progress, "received">;
  /** Runs the sessions that answer a group's chat. */
  readonly queue: { wakeGroup(group: Group): void };
  readonly commands: { runNew(group: Group): Promise<void> };
  readonly catchUp: { cameLate(group: string): void };
  readonly forms: { readonly areAwaited: boolean };
  /** Prepares the memories of a group or agent's folder for a text that a turn is about to see. */
  readonly memories: { foresee(folder: string, text: string): void };
  readonly answerByReaction: TakeReactionOptions["answer"];
  readonly metrics: { messageIn(channel: string, receipt: Receipt): void };
}

/** Takes messages and reactions from channels. */
export interface Intake {
  readonly accept: AcceptMessage;
  readonly reacted: TakeReaction;
}

/** Opens the way from channels to the queue. */
export function openIntake(stack: AsyncDisposableStack, options: OpenIntakeOptions): Intake {
  const { groups, guard, access, metrics, answerByReaction: answer } = options;
  const wakes = stack.use(new GroupWakes(options));
  const route = openRouter(options, wakes);
  const intake = (): ReturnType<typeof guard.state> => guard.state();
  const { retryAfterS } = routerLimits;
  const react = createTakeReaction({ registry: groups, intake, retryAfterS, access, answer });
  return {
    accept: async (message) => {
      const receipt = await refuseWhileStopped(guard, () => route(message));
      // Not an event: a flood of refused messages must not fill the store.
      metrics.messageIn(message.channel, receipt);
      return receipt;
    },
    reacted: (reaction) => refuseWhileStopped(guard, () => react(reaction)),
  };
}

function openRouter(options: OpenIntakeOptions, wakes: GroupWakes): AcceptMessage {
  const { groups, store, settings, agentNameOf, guard, attachments, outbox, memories, progress, forms, clock } =
    options;
  const { access, autoRegister, commandsOf, hears, lateMs, onStranger, pace, publish } = options;
  return createRouter({
    access,
    autoRegister,
    commandsOf,
    hears,
    lateMs,
    onStranger,
    pace,
    publish,
    clock,
    store,
    registry: groups,
    get assistantName() {
      return agentNameOf(undefined);
    },
    agentNameOf: (group, agent = group.agent) => agentNameOf(agent),
    intake: () => guard.state(),
    fetchAll: (group, files, roomBytes) => attachments.fetchAll(group, files, roomBytes),
    wake: (group, late, agents) => wakes.wake(group, late, agents),
    listener: {
      coming: (group, { text }, agents) => {
        const folders = agents?.map((agent) => folderOf(group, agent)) ?? [group.name];
        for (const folder of folders) memories.foresee(folder, text);
      },
      received: (group, message) => progress.received(group, message),
    },
    answerInReply: (message) => {
      const agent = groups.find(message.channel, message.chat)?.agent;
      return answerInReply({ store, assistantName: agentNameOf(agent), formsAwaited: forms.areAwaited }, message);
    },
    runCommands: (group) => wakes.runCommands(group),
    notify: async (draft) => {
      await store.outbox.add(draft, clock.now());
      outbox.wake();
    },
    get limits() {
      return limitsOf(settings());
    },
  });
}
