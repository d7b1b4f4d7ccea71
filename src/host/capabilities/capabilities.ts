import type { TellOperator } from "../../delivery/operator-notices.ts";
import type { GroupRegistry } from "../../intake/chats/group-registry.ts";
import type { ProviderSet } from "../../models/routes/provider-set.ts";
import type { GroupSkills } from "../../abilities/skills/group-skills.ts";
import type { SkillSync } from "../../abilities/skills/sync/skill-sync.ts";
import type { Containers } from "../containers.ts";
import type { AppContext } from "../context.ts";
import type { RunningAbilities } from "../../abilities/start-abilities.ts";
import { type HostAbilityOptions, startHostAbilities } from "../abilities.ts";
import { createSkillSync } from "./skills/skill-sync.ts";
import { tidySkills, withNamedSkills } from "./skills/skills.ts";
import { createMemoriesWhenEnabled, type LazyMemories } from "../memory/memory-when-enabled.ts";
import { createSpeech } from "./voice/speech.ts";
import { createSubAgents } from "./sub-agents.ts";
import type { SubAgents, SubAgentsOptions } from "./sub-agents.ts";
import type { Approvals } from "../approvals.ts";
import { createToolPorts } from "./tool-ports.ts";
import type { AnswerWriter, HostTools } from "../../turns/collaborators.ts";
import type { CompactionsOptions } from "../../turns/compaction/compactions.ts";
import type { LiveWatchersOptions } from "../../turns/live-watchers.ts";
import type { RecallFunction } from "../../turns/steps/turn-intake.ts";

/** Abilities of agents beyond answering messages. */
export interface Capabilities {
  readonly memories: LazyMemories;
  readonly subAgents: SubAgents;
  readonly forTurns: Pick<HostTools, "portsOf"> &
    Pick<AnswerWriter, "workAdded"> &
    LiveWatchersOptions["sessions"] & {
      readonly recall: RecallFunction;
      /** Draws facts from what was said in a group, before a summary stands for it. */
      readonly extract: CompactionsOptions["before"];
    };
  readonly skillSync: SkillSync;
  readonly abilities: RunningAbilities["services"];
  readonly turnEnded: RunningAbilities["turnEnded"];
  /** Puts in order what an earlier life of the host has left, before anything else is looked at. */
  readonly resume: () => Promise<void>;
  /** Begins what they do by themselves, when everything is there. */
  readonly start: () => void;
}

export interface CapabilityOptions
  extends Omit<SubAgentsOptions, "turnEnded">, Pick<HostAbilityOptions, "guard" | "entrances"> {
  readonly groups: GroupRegistry;
  readonly providers: ProviderSet;
  readonly tell: TellOperator;
  readonly skills: GroupSkills;
  readonly deliver: () => void;
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
  const memories = createMemoriesWhenEnabled(context, stack, options);
  const { sideSessions } = options;
  const abilities = await startHostAbilities(context, stack, options);
  const { turnEnded } = abilities;
  const skillSync = createSkillSync(context, stack, options);
  const subAgents = createSubAgents(context, stack, { ...options, turnEnded });
  return {
    abilities: abilities.services,
    turnEnded,
    skillSync,
    subAgents,
    memories,
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
        memories,
        portOf: abilities.portOf,
        speech: createSpeech(context, options),
      }),
      extract: memories.extract,
      recall: withNamedSkills(context, options.skills, memories.recall),
    },
    resume: async () => {
      await sideSessions.resume();
      memories.resume();
    },
    start: () => {
      abilities.begin();
      tidySkills(context, options);
      noting = context.installed.look();
      void skillSync.changed();
    },
  };
}
