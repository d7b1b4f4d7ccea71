import { rm } from "node:fs/promises";
import { join } from "node:path";

import { estimateStepTokens } from "../../turns/context/tokens.ts";
import type { Group } from "../../domain/chats/group.ts";
import { refusalOfRoute } from "../../models/routes/narrower-route.ts";
import type { SideSessions } from "../../work/sessions/side-sessions.ts";
import { handOver } from "../../abilities/sub-agents/hand-over.ts";
import { Spawning } from "../../abilities/sub-agents/spawning.ts";
import type { SpawningOptions } from "../../abilities/sub-agents/spawning.ts";
import { SubAgentService } from "../../abilities/sub-agents/sub-agent-service.ts";
import { subAgentPort } from "../../abilities/sub-agents/sub-agent-port.ts";
import type { QueuedSession } from "../../work/queue/session-queue.ts";
import { spawnInput } from "../../tools/sub-agents/spawn-agent.ts";
import type { CallGate } from "../../turns/collaborators.ts";
import type { ActiveTurns } from "../../turns/active-turns.ts";
import type { Signal } from "../../lib/signal.ts";
import { scratchFolderOf } from "../../sandbox/workspace/scratch-folder.ts";
import type { AbilityServices } from "../../abilities/catalog.ts";
import type { Containers } from "../containers.ts";
import { folderOfSession } from "../as-agent.ts";
import { hostUid } from "../../lib/process/host-uid.ts";
import type { AppContext } from "../context.ts";
import { usableProfile } from "./profiles.ts";
import { refusalOfSkills } from "../../domain/sandbox/skill.ts";
import { principalOf } from "../../rights/people/principal.ts";
import { createTurnEnded } from "../../turns/ending/turn-ended.ts";
import type { TurnEndedOptions } from "../../turns/ending/turn-ended.ts";

export interface SubAgentsOptions extends Pick<Containers, "pool"> {
  readonly skills: Pick<AbilityServices["skills"], "known">;
  readonly workAdded: () => void;
  /** Emits sessions that can go on. */
  readonly sessionReady: Signal<QueuedSession>;
  readonly groups: { byName(name: string): Group | undefined };
  readonly activeTurns: Pick<ActiveTurns, "cancel">;
  readonly sideSessions: SideSessions;
  readonly turnEnded: TurnEndedOptions["turnEnded"];
}

/** Agents that work for others. */
export interface SubAgents {
  readonly desk: SubAgentService;
  readonly spawning: Spawning;
  readonly portFor: (scope: Parameters<typeof subAgentPort>[1]) => ReturnType<typeof subAgentPort>;
  readonly forTurns: Pick<CallGate, "prepareSpawns" | "spawned">;
}

export function createSubAgents(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: SubAgentsOptions,
): SubAgents {
  const { config, store, clock, publish } = context;
  const whoAsks = { origins: context.store.origins, roleOf: context.roles.roleOf };
  const principal: SpawningOptions["principalOf"] = (group, turn) => principalOf(whoAsks, group, turn);
  const spawning = new Spawning({
    store,
    limits: () => config.limits.subAgents,
    requireProfile: async (name) => void (await usableProfile(context, name)),
    refusalOfRoute: async (group, { route, profile }) => {
      const given = profile === undefined ? undefined : (await usableProfile(context, profile)).route;
      return refusalOfRoute(config.models, { wanted: route, own: given ?? group.model });
    },
    refusalOfSkills: async ({ group, settings }, { skills, profile }) => {
      const given = profile === undefined ? undefined : (await usableProfile(context, profile)).skills;
      return refusalOfSkills(options.skills.known(group.name), skills, [settings.agent.skills, given]);
    },
    principalOf: principal,
    publish,
    clock,
  });
  const desk: SubAgentService = stack.use(createDesk(context, options, () => desk));
  const { workAdded } = options;
  return {
    desk,
    spawning,
    portFor: (scope) => subAgentPort({ store, desk, principalOf: principal, workAdded, clock }, scope),
    forTurns: {
      prepareSpawns: (scope, calls) => prepare(spawning, scope, calls),
      spawned: () => {
        workAdded();
        desk.changed();
      },
    },
  };
}

const prepare = async (
  spawning: Spawning,
  scope: Parameters<CallGate["prepareSpawns"]>[0],
  calls: Parameters<CallGate["prepareSpawns"]>[1],
): ReturnType<CallGate["prepareSpawns"]> => {
  const spawns = [];
  const denied = [];
  for (const { judged, position } of calls) {
    const wanted = spawnInput.safeParse(judged.call.input);
    const made = wanted.success
      ? await spawning.prepare(scope, { call: judged.call, position, wanted: wanted.data })
      : `The input does not fit: ${wanted.error.issues.map(({ path, message }) => [...path, message].join(": ")).join("; ")}.`;
    if (typeof made === "string") denied.push({ ...judged, reason: made });
    else spawns.push(made);
  }
  return { spawns, denied };
};

function createDesk(
  context: AppContext,
  { pool, workAdded, sessionReady, activeTurns: active, sideSessions, turnEnded, groups }: SubAgentsOptions,
  desk: () => SubAgentService,
): SubAgentService {
  const { store, home, clock, publish, logger } = context;
  const subAgents = { turnsEnded: () => desk().turnsEnded() };
  return new SubAgentService({
    store: store.subAgents,
    turnEnded: createTurnEnded({ clock, publish }, { active, sideSessions, subAgents, turnEnded }),
    endContainer: async (session, reason) => void (await pool.stop(session, reason)),
    handOver: ({ id, group: name, session, parentKey }) => {
      const group = groups.byName(name);
      const folder = group ? folderOfSession(context, group, { key: parentKey }) : name;
      return handOver(
        {
          groupsFolder: home.paths.groups,
          temporaryFolder: home.paths.incoming,
          roomFor: (each: string) => context.space.roomIn(each),
          hostUid: hostUid(),
        },
        { id, folder, scratch: scratchFolderOf(home.paths.sessions, session) },
      );
    },
    clear: async (session) => {
      for (const folder of [scratchFolderOf(home.paths.sessions, session), join(home.paths.sessions, session, "mail")])
        await rm(folder, { recursive: true, force: true });
    },
    wake: ({ background, parentKey, group }) => {
      if (background) workAdded();
      else void sessionReady.emit({ session: parentKey, group });
    },
    estimateTokens: (text) => estimateStepTokens({ kind: "user", text }),
    publish,
    clock,
    logger,
  });
}
