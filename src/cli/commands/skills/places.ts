import { existsSync, readdirSync } from "node:fs";

import { isGroupName } from "../../../domain/group.ts";
import { SkillInstaller } from "../../../skills/install/installer.ts";
import { bundledSkills, type SkillPlaces } from "../../../skills/places.ts";
import type { CommandContext } from "../../context.ts";

/** Where skills are in this home. */
export function skillPlaces({ paths, environment }: CommandContext): SkillPlaces {
  return {
    bundled: bundledSkills(environment.checkout),
    installed: paths.skills,
    lock: paths.skillLock,
    groups: paths.groups,
    allowed: paths.groupSkills,
  };
}

export function installerOf(context: CommandContext): SkillInstaller {
  return new SkillInstaller({ places: skillPlaces(context), now: Date.now, variables: context.environment.variables });
}

/** What lists of skills are made with. */
export function listOptions(context: CommandContext): { readonly places: SkillPlaces; readonly hostUid: number } {
  return { places: skillPlaces(context), hostUid: process.geteuid?.() ?? 0 };
}

/** Groups that have a folder. */
export function groupsWithFolder({ paths }: CommandContext): string[] {
  return existsSync(paths.groups) ? readdirSync(paths.groups).filter(isGroupName).toSorted() : [];
}
