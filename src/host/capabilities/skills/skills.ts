import { existsSync } from "node:fs";

import { namesFor } from "../../../config/profiles/parse-profile.ts";
import { checkProfiles } from "../../../config/profiles/profile-files.ts";
import type { TellOperator } from "../../../delivery/operator-notices.ts";
import { type Group, unknownGroup } from "../../../domain/chats/group.ts";
import type { ResolvedGroup } from "../../../domain/settings/resolved-group.ts";
import { leftOf, type Skill, type SkillSummary } from "../../../domain/sandbox/skill.ts";
import type { GroupRegistry } from "../../../intake/chats/group-registry.ts";
import { toError } from "../../../lib/app-error.ts";
import { nearest } from "../../../lib/text/nearest.ts";
import type { SkillNeeds } from "../../../abilities/skills/operations.ts";
import { ToolError } from "../../../protocol/tools.ts";
import { skillFolders } from "../../../abilities/skills/places.ts";
import { GroupSkills } from "../../../abilities/skills/group-skills.ts";
import { listAll, listForGroup } from "../../../abilities/skills/list-skills.ts";
import { listMatched, formatSkills, showSkillFile } from "../../../abilities/skills/show-skills.ts";
import { readSkillMapping, skillsForTask, skillsNamedIn } from "../../../abilities/skills/skill-mapping.ts";
import { SkillToolSource } from "../../../tools/skills/skill-tool-source.ts";
import type { SkillPort } from "../../../tools/skills/skill-port.ts";
import type { RecallFunction } from "../../../turns/steps/turn-intake.ts";
import type { TurnScope } from "../../../turns/turn-scope.ts";
import type { AppContext } from "../../context.ts";
import { hostUid } from "../../../lib/process/host-uid.ts";
import { skillNamesIn } from "./skill-narrowing.ts";

/** More than a message needs; others are read by the tool. */
const mostNamedAtOnce = 5;

/** The skills of all groups. Nothing is looked at for groups that are to have none. */
export function createSkills(context: AppContext, tell: TellOperator): GroupSkills {
  const { home, environment, live, publish, logger } = context;
  return new GroupSkills({
    places: skillFolders(home.paths, environment.checkout),
    copies: home.paths.skillCopies,
    hostUid: hostUid(),
    choiceOf: (group) => live.groupOf({ name: group }).skills,
    publish,
    tell: (text) => tell({ text }),
    logger,
  });
}

/** The tools that they bring. */
export function skillTools({ skills }: { readonly skills: GroupSkills }): SkillToolSource {
  return new SkillToolSource((group) => skills.inUse(group.name));
}

/** Skill summaries in the prompt of such a turn. */
export function summariesOf(skills: readonly Skill[], settings: Pick<ResolvedGroup, "agent">): SkillSummary[] {
  return leftOf(skills, settings.agent.skills).map(({ name, description }) => ({ name, description }));
}

/** For the call of a tool in this turn; undefined where the group is to have no skills. */
export function skillPort(
  context: Pick<AppContext, "home" | "live" | "adapters" | "publish">,
  skills: GroupSkills,
  { group, session, turn, settings }: TurnScope,
): SkillPort | undefined {
  const { home, live, adapters, publish } = context;
  if (live.groupOf(group).skills === "none") return undefined;
  const known = (): readonly Skill[] => leftOf(skills.known(group.name), settings.agent.skills);
  return {
    available: () => formatSkills(known()),
    forTask: async (task) =>
      listMatched(skillsForTask(known(), { ...task, mapping: await readSkillMapping(home.paths.skillMapping) })),
    content: async (name, file) => {
      const skill = find(known(), name);
      const text = await showSkillFile(skill, file);
      const data = { name, sha256: skill.sha256, way: "tool" } as const;
      await publish({
        type: "skill.loaded",
        group: group.name,
        session: session.id,
        turn: turn.id,
        actor: "agent",
        data,
      });
      return text;
    },
    agents: async () => {
      const checked = await checkProfiles(home.paths.agents, namesFor(live.current, adapters));
      const usable = checked.flatMap(({ profile }) => (profile ? [`${profile.name}: ${profile.description}`] : []));
      return usable.join("\n") || "There are no profiles.";
    },
  };
}

function find(skills: readonly Skill[], name: string): Skill {
  const skill = skills.find((one) => one.name === name);
  if (skill) return skill;
  const names = skills.map((one) => one.name);
  const near = nearest(name, names);
  const hint = near === undefined ? `Skills: ${names.join(", ") || "none"}.` : `Did you mean ${near}?`;
  throw new ToolError(`There is no skill ${JSON.stringify(name)}. ${hint}`);
}

/** Adds recalled memories and skills named as `$name` in front of messages. */
export function withNamedSkills(
  context: Pick<AppContext, "home" | "live" | "adapters" | "publish" | "logger" | "store">,
  skills: GroupSkills,
  recall: RecallFunction,
): RecallFunction {
  const { publish, logger } = context;
  return async (place, messages, at) => {
    const recalled = await recall(place, messages, at);
    const said = messages.filter(({ state, text }) => state !== "context" && text.includes("$"));
    if (said.length === 0) return recalled;
    try {
      const ofGroup = await skills.look(place.group.name);
      const all = ofGroup.length === 0 ? ofGroup : leftOf(ofGroup, await skillNamesIn(context, place));
      const named = skillsNamedIn(said.map(({ text }) => text).join("\n"), all).slice(0, mostNamedAtOnce);
      if (named.length === 0) return recalled;
      const texts: string[] = [];
      for (const skill of named) {
        const data = { name: skill.name, sha256: skill.sha256, way: "message" } as const;
        await publish({
          type: "skill.loaded",
          group: place.group.name,
          session: place.session.id,
          actor: "host",
          data,
        });
        texts.push(await showSkillFile(skill));
      }
      return { text: [...texts, ...(recalled ? [recalled.text] : [])].join("\n"), origins: recalled?.origins ?? [] };
    } catch (error) {
      logger.error({ err: toError(error), group: place.group.name }, "skills that a message names could not be read");
      return recalled;
    }
  };
}

/** Removes copies that no group uses; a home without copies is left alone. */
export function tidySkills(
  { home, logger }: Pick<AppContext, "home" | "logger">,
  { skills, groups }: { readonly skills: GroupSkills; readonly groups: Pick<GroupRegistry, "list"> },
): void {
  if (!existsSync(home.paths.skillCopies)) return;
  skills
    .tidy(groups.list().map(({ name }) => name))
    .catch((error: unknown) => logger.warn({ err: toError(error) }, "old copies of skills could not be removed"));
}

/** List for `crabpot skills list`. Throws `not_found` for an unknown group. */
export function createSkillList(
  { home, environment, live }: Pick<AppContext, "home" | "environment" | "live">,
  groups: () => readonly Pick<Group, "name">[],
): SkillNeeds["skills"]["list"] {
  const options = { places: skillFolders(home.paths, environment.checkout), hostUid: hostUid() };
  return async (group) => {
    const names = groups().map(({ name }) => name);
    if (group === undefined) return listAll(options, names);
    if (!names.includes(group)) throw unknownGroup(group, names);
    return listForGroup(options, group, live.groupOf({ name: group }).skills);
  };
}
