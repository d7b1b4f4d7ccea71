import type { GroupRegistry } from "../../intake/chats/group-registry.ts";
import type { AbilityServices } from "../../abilities/catalog.ts";
import type { LookUpForeword } from "../../domain/turns/foreword.ts";
import type { Containers } from "../containers.ts";
import type { AppContext } from "../context.ts";
import type { RunningAbilities } from "../../abilities/start-abilities.ts";
import { createSpeech } from "./voice/speech.ts";
import { createSubAgents } from "./sub-agents.ts";
import type { SubAgents, SubAgentsOptions } from "./sub-agents.ts";
import type { Approvals } from "../approvals.ts";
import { createToolPorts } from "./tool-ports.ts";
import type { AnswerWriter, HostTools } from "../../turns/collaborators.ts";
import type { CompactionsOptions } from "../../turns/compaction/compactions.ts";
import type { LiveWatchersOptions } from "../../turns/live-watchers.ts";

/** Abilities of agents beyond answering messages. */
export interface Capabilities {
  readonly subAgents: SubAgents;
  readonly forTurns: Pick<HostTools, "portsOf"> &
    Pick<AnswerWriter, "workAdded"> &
    LiveWatchersOptions["sessions"] & {
      readonly foreword: LookUpForeword;
      /** Draws facts from what was said in a group, before a summary stands for it. */
      readonly extract: CompactionsOptions["before"];
    };
  readonly abilities: AbilityServices;
  readonly turnEnded: RunningAbilities["turnEnded"];
  /** Puts in order what an earlier life of the host has left, before anything else is looked at. */
  readonly resume: () => Promise<void>;
  /** Begins what they do by themselves, when everything is there. */
  readonly start: () => void;
}

export interface CapabilityOptions extends Omit<SubAgentsOptions, "turnEnded"> {
  readonly abilities: RunningAbilities;
  readonly services: AbilityServices;
  readonly groups: GroupRegistry;
  readonly approvals: Pick<Approvals, "forms">;
  readonly servers: Containers["servers"];
}

/** Each capability is made here, of what it needs; what none of them uses costs nothing. */
export async function createCapabilities(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: CapabilityOptions,
): Promise<Capabilities> {
  let noting: Promise<void> | undefined;
  stack.defer(() => noting);
  const { abilities, services, sideSessions } = options;
  const { turnEnded } = abilities;
  const subAgents = createSubAgents(context, stack, { ...options, turnEnded });
  return {
    abilities: services,
    turnEnded,
    subAgents,
    forTurns: {
      workAdded: options.workAdded,
      turnEndedIn: (session, turn) => {
        turnEnded(turn);
        sideSessions.settled(session);
        subAgents.desk.turnsEnded();
      },
      portsOf: createToolPorts(context, {
        ...options,
        subAgents,
        portOf: abilities.portOf,
        speech: createSpeech(context, options),
      }),
      extract: services.memory.extract,
      foreword: abilities.foreword,
    },
    resume: () => sideSessions.resume(),
    start: () => {
      abilities.begin();
      noting = context.installed.look();
    },
  };
}
