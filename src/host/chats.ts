import type { AbilityServices } from "../abilities/catalog.ts";
import { randomInt } from "node:crypto";

import { registersChats } from "../config/adapters.ts";
import { agentNameOf } from "../config/configured/agents.ts";
import { isKnown } from "../config/configured/people.ts";
import { sharedPolicy } from "../config/resolve-group.ts";
import type { Outbox } from "../delivery/outbox.ts";
import type { Progress } from "../delivery/progress.ts";
import { risks } from "../domain/rights/policy.ts";
import { type Admissions, createAdmissions } from "../intake/chats/admissions.ts";
import { createAutomaticNames } from "../intake/chats/automatic-names.ts";
import { createAutoRegister } from "../intake/chats/auto-register.ts";
import { ChatBook } from "../intake/chats/chat-book.ts";
import type { GroupFolders } from "../intake/chats/group-folders.ts";
import type { GroupRegistry } from "../intake/chats/group-registry.ts";
import { createStrangers } from "../intake/chats/strangers.ts";
import type { IntakeGuard } from "../intake/limits/intake-guard.ts";
import type { TurnPace } from "../intake/limits/turn-pace.ts";
import { type Intake, openIntake } from "../intake/open-intake.ts";
import { CodeTries } from "../rights/people/code-tries.ts";
import { isAlwaysDenied } from "../rights/policy/judge.ts";
import { commandsOf } from "../surfaces/chat/catalog.ts";
import { type ChatCommandOptions, createChatCommands, type RunChatCommands } from "../surfaces/chat/chat-commands.ts";
import { createCommandServices } from "../surfaces/chat/command-services.ts";
import { GroupCommands } from "../surfaces/chat/group-commands.ts";
import type { ActiveTurns } from "../turns/active-turns.ts";
import { CatchUp } from "../turns/catch-up.ts";
import type { Compactions } from "../turns/compaction/compactions.ts";
import { createTurnEnded } from "../turns/ending/turn-ended.ts";
import type { SideSessions } from "../work/sessions/side-sessions.ts";
import type { SessionQueue } from "../work/queue/session-queue.ts";
import type { RunningAbilities } from "../abilities/start-abilities.ts";
import type { Entrances } from "./channels.ts";
import type { Containers } from "./containers.ts";
import type { AppContext } from "./context.ts";
import { openAttachmentFetcher } from "./storage.ts";
import type { Approvals } from "./approvals.ts";
import { createAccessOf } from "../config/serving/people.ts";

/** Parts that work with groups' chats. */
interface ChatParts {
  readonly activeTurns: ActiveTurns;
  readonly approvals: Pick<Approvals, "forms" | "service">;
  readonly abilities: Pick<RunningAbilities, "turnEnded">;
  readonly compactions: Compactions;
  readonly containers: Pick<Containers, "pool">;
  readonly deliver: () => void;
  readonly entrances: Pick<Entrances, "gateway">;
  readonly folders: Pick<GroupFolders, "isFree">;
  readonly groups: GroupRegistry;
  readonly services: AbilityServices;
  readonly sideSessions: SideSessions;
}

/** Opens what platforms tell about chats, the admission of chats, commands, and what gives up old messages. */
export function openChats(
  context: AppContext,
  stack: AsyncDisposableStack,
  parts: ChatParts,
): {
  readonly chats: ChatBook;
  readonly admissions: Admissions;
  readonly catchUp: CatchUp;
  readonly commands: GroupCommands;
} {
  const { live, store, publish, clock, logger } = context;
  const { abilities, activeTurns: active, deliver, groups, sideSessions } = parts;
  const chats = stack.use(new ChatBook({ store, publish, clock, logger }, groups));
  const admissions = openAdmissions(context, parts, chats);
  const ending = { active, sideSessions, turnEnded: abilities.turnEnded };
  const turnEnded = createTurnEnded({ clock, publish }, ending);
  const limitMinutes = (group: string): number => live.groupOf({ name: group }).turns.catchUpMinutes;
  const catchUp = new CatchUp({ store, limitMinutes, turnEnded, deliver, publish, clock });
  const run = createRunCommands(context, parts, { admissions, turnEnded });
  return { chats, admissions, catchUp, commands: new GroupCommands(run, logger) };
}

function openAdmissions(
  { config, store, forwardClock, publish }: AppContext,
  { groups, folders }: ChatParts,
  chats: ChatBook,
): Admissions {
  const now = (): number => forwardClock.now();
  return createAdmissions({
    store,
    registry: groups,
    isNameFree: async (group) => groups.byName(group.name) === undefined && (await folders.isFree(group)),
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
  const { activeTurns, compactions, containers, deliver, entrances } = parts;
  const { service: approvals, forms } = parts.approvals;
  const { heartbeat, jobs, memory, subAgents, tasks } = parts.services;
  const { pool } = containers;
  const services = createCommandServices({
    activeTurns,
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
  const told = { approvals, forms, compactions, pool, subAgents, turnEnded, deliver };
  return createChatCommands({ store, services, ...told, publish, fingerprint, clock });
}

/** Parts that messages from channels reach. */
interface IntakeParts {
  readonly admissions: Admissions;
  readonly approvals: Pick<Approvals, "answerByReaction" | "forms">;
  readonly catchUp: CatchUp;
  readonly commands: GroupCommands;
  readonly entrances: Entrances;
  readonly groups: GroupRegistry;
  readonly guard: IntakeGuard;
  readonly media: Pick<AbilityServices["media"], "hear">;
  readonly memories: Pick<AbilityServices["memory"], "foresee">;
  readonly outbox: Outbox;
  readonly pace: TurnPace;
  readonly progress: Progress;
  readonly queue: SessionQueue;
}

/** Opens the way from channels to the queue. */
export async function openIntakeOf(
  context: AppContext,
  stack: AsyncDisposableStack,
  parts: IntakeParts,
): Promise<Intake> {
  const { config, live, adapters, hasTrait, store, roles, metrics, publish, clock, forwardClock } = context;
  const { admissions, approvals, entrances, groups, outbox } = parts;
  const onboards = (channel: string): boolean => hasTrait(channel, "onboards");
  const dm = () => config.access.dm;
  const nameOf = createAutomaticNames({
    registersChats: (channel) => registersChats({ config, adapters }, channel),
    onboards,
    dm,
    isKnown: (who) => isKnown(config, roles.keysOf(who)),
    admissions,
  });
  return openIntake(stack, {
    ...parts,
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
    attachments: stack.use(await openAttachmentFetcher(context, parts.media.hear)),
    lateMs: (group) => live.groupOf({ name: group }).turns.catchUpMinutes * 60_000,
    metrics,
    onStranger: createStrangers({
      store,
      onboards,
      dm,
      isConnected: (name) =>
        entrances.channels.some((channel) => channel.name === name && channel.state().state === "open"),
      mainGroups: () => groups.list().filter(({ main }) => main),
      get assistantName() {
        return config.assistant.name;
      },
      randomBelow: randomInt,
      deliver: () => outbox.wake(),
      calendar: clock,
      clock: forwardClock,
      publish,
    }),
    settings: () => config.intake,
    store,
    publish,
    clock,
  });
}
