import { randomInt } from "node:crypto";

import { registersChats } from "../config/adapters.ts";
import { agentNameOf } from "../config/configured/agents.ts";
import { isKnown } from "../config/configured/people.ts";
import { sharedPolicy } from "../config/resolve-group.ts";
import type { ServedGroups } from "../config/serving/served-groups.ts";
import { risks } from "../domain/rights/policy.ts";
import { type Admissions, createAdmissions } from "../intake/chats/admissions.ts";
import { createAutomaticNames } from "../intake/chats/automatic-names.ts";
import { createAutoRegister } from "../intake/chats/auto-register.ts";
import { ChatBook } from "../intake/chats/chat-book.ts";
import type { GroupRegistry } from "../intake/chats/group-registry.ts";
import { createStrangers } from "../intake/chats/strangers.ts";
import type { IntakeGuard } from "../intake/limits/intake-guard.ts";
import { type Intake, openIntake } from "../intake/open-intake.ts";
import { CodeTries } from "../rights/people/code-tries.ts";
import { isAlwaysDenied } from "../rights/policy/judge.ts";
import { commandsOf } from "../surfaces/chat/catalog.ts";
import { type ChatCommandOptions, createChatCommands, type RunChatCommands } from "../surfaces/chat/chat-commands.ts";
import { createCommandServices } from "../surfaces/chat/command-services.ts";
import { GroupCommands } from "../surfaces/chat/group-commands.ts";
import { CatchUp } from "../turns/catch-up.ts";
import { createTurnEnded } from "../turns/ending/turn-ended.ts";
import type { WorkQueue } from "../work/queue/open-work.ts";
import type { HostAbilities } from "./abilities.ts";
import type { Entrances, HostDelivery } from "./channels.ts";
import type { Containers, HostSessions } from "./containers.ts";
import type { AppContext } from "./context.ts";
import { openAttachmentFetcher } from "./storage.ts";
import type { Approvals } from "./approvals.ts";
import type { Turns } from "./turns.ts";
import { createAccessOf } from "../config/serving/people.ts";

/** Parts that work with groups' chats. */
interface ChatParts {
  readonly abilities: HostAbilities;
  readonly approvals: Pick<Approvals, "forms" | "service">;
  readonly containers: Pick<Containers, "pool">;
  readonly delivery: Pick<HostDelivery, "deliver">;
  readonly entrances: Pick<Entrances, "gateway">;
  readonly servedGroups: Pick<ServedGroups, "folders" | "registry">;
  readonly sessions: HostSessions;
  readonly turns: Turns;
}

/** Knowledge of chats, their admission, their commands, and what gives up old messages. */
export interface HostChats {
  readonly book: ChatBook;
  readonly admissions: Admissions;
  readonly catchUp: CatchUp;
  readonly commands: GroupCommands;
}

/** Opens what platforms tell about chats, the admission of chats, commands, and what gives up old messages. */
export function openChats(context: AppContext, stack: AsyncDisposableStack, parts: ChatParts): HostChats {
  const { live, store, publish, clock, logger } = context;
  const { abilities, delivery, servedGroups, sessions } = parts;
  const { activeTurns: active, sideSessions } = sessions;
  const book = stack.use(new ChatBook({ store, publish, clock, logger }, servedGroups.registry));
  const admissions = openAdmissions(context, parts, book);
  const ending = { active, sideSessions, turnEnded: abilities.running.turnEnded };
  const turnEnded = createTurnEnded({ clock, publish }, ending);
  const limitMinutes = (group: string): number => live.groupOf({ name: group }).turns.catchUpMinutes;
  const catchUp = new CatchUp({ store, limitMinutes, turnEnded, deliver: delivery.deliver, publish, clock });
  const run = createRunCommands(context, parts, { admissions, turnEnded });
  return { book, admissions, catchUp, commands: new GroupCommands(run, logger) };
}

function openAdmissions(
  { config, store, forwardClock, publish }: AppContext,
  { servedGroups: { folders, registry } }: ChatParts,
  chats: ChatBook,
): Admissions {
  const now = (): number => forwardClock.now();
  return createAdmissions({
    store,
    registry,
    isNameFree: async (group) => registry.byName(group.name) === undefined && (await folders.isFree(group)),
    get assistantName() {
      return config.assistant.name;
    },
    isOffered: (tool) => !isAlwaysDenied(tool, risks, sharedPolicy(config)),
    tries: new CodeTries(store.requests, now),
    now,
    chats,
    publish,
  });
}

function createRunCommands(
  context: AppContext,
  parts: ChatParts,
  { admissions, turnEnded }: Pick<ChatCommandOptions, "turnEnded"> & { readonly admissions: Admissions },
): RunChatCommands {
  const { live, store, roles, fingerprint, publish, clock, forwardClock } = context;
  const { delivery, entrances, sessions } = parts;
  const { service: approvals, forms } = parts.approvals;
  const { heartbeat, jobs, memory, subAgents, tasks } = parts.abilities.services;
  const { pool } = parts.containers;
  const { compactions } = parts.turns;
  const services = createCommandServices({
    activeTurns: sessions.activeTurns,
    admissions,
    approvals,
    compactions,
    forms,
    gateway: entrances.gateway,
    heartbeat,
    jobs,
    live,
    memories: memory,
    publish,
    roles,
    store,
    tasks,
    clock,
    forwardClock,
  });
  return createChatCommands({
    store,
    services,
    approvals,
    forms,
    compactions,
    pool,
    subAgents,
    turnEnded,
    deliver: delivery.deliver,
    publish,
    fingerprint,
    clock,
  });
}

/** Parts that messages from channels reach. */
interface IntakeParts {
  readonly abilities: Pick<HostAbilities, "services">;
  readonly approvals: Pick<Approvals, "answerByReaction" | "forms">;
  readonly chats: HostChats;
  readonly delivery: HostDelivery;
  readonly entrances: Entrances;
  readonly groups: GroupRegistry;
  readonly guard: IntakeGuard;
  readonly sessions: Pick<HostSessions, "pace">;
  readonly work: Pick<WorkQueue, "queue">;
}

/** Opens the way from channels to the queue. */
export async function openIntakeOf(
  context: AppContext,
  stack: AsyncDisposableStack,
  parts: IntakeParts,
): Promise<Intake> {
  const { config, live, adapters, hasTrait, store, roles, metrics, publish, clock } = context;
  const { abilities, approvals, chats, delivery, groups, guard, sessions } = parts;
  const { outbox, progress } = delivery;
  const { media, memory: memories } = abilities.services;
  const onboards = (channel: string): boolean => hasTrait(channel, "onboards");
  const nameOf = createAutomaticNames({
    registersChats: (channel) => registersChats({ config, adapters }, channel),
    onboards,
    dm: () => config.access.dm,
    isKnown: (who) => isKnown(config, roles.keysOf(who)),
    admissions: chats.admissions,
  });
  return openIntake(stack, {
    groups,
    guard,
    outbox,
    pace: sessions.pace,
    progress,
    queue: parts.work.queue,
    memories,
    catchUp: chats.catchUp,
    commands: chats.commands,
    access: createAccessOf(live, roles),
    agentNameOf: (agent) => agentNameOf(config, agent),
    answerByReaction: approvals.answerByReaction,
    autoRegister: createAutoRegister({
      nameOf,
      registry: groups,
      get limits() {
        return config.intake.autoRegister;
      },
      store,
      clock,
      publish,
    }),
    commandsOf: (group) => commandsOf(group, config.memory.enabled),
    forms: approvals.forms,
    hears: () => config.media.transcription !== "none",
    attachments: stack.use(await openAttachmentFetcher(context, media.hear)),
    lateMs: (group) => live.groupOf({ name: group }).turns.catchUpMinutes * 60_000,
    metrics,
    onStranger: createOnStranger(context, parts),
    settings: () => config.intake,
    store,
    publish,
    clock,
  });
}

function createOnStranger(
  { config, hasTrait, store, publish, clock, forwardClock }: AppContext,
  { delivery: { deliver }, entrances, groups }: IntakeParts,
): ReturnType<typeof createStrangers> {
  return createStrangers({
    store,
    onboards: (channel) => hasTrait(channel, "onboards"),
    dm: () => config.access.dm,
    isConnected: (name) =>
      entrances.channels.some((channel) => channel.name === name && channel.state().state === "open"),
    mainGroups: () => groups.list().filter(({ main }) => main),
    get assistantName() {
      return config.assistant.name;
    },
    randomBelow: randomInt,
    deliver,
    calendar: clock,
    clock: forwardClock,
    publish,
  });
}
