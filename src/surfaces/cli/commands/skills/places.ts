import { existsSync, readdirSync } from "node:fs";

import { isGroupName } from "../../../../domain/chats/group.ts";
import { SkillInstaller } from "../../../../abilities/skills/install/installer.ts";
import { type SkillFolders, skillFolders } from "../../../../abilities/skills/places.ts";
import type { CommandContext } from "../../context.ts";

/** Skill folders of this home. */
export function placesOf({ paths, environment }: CommandContext): SkillFolders {
  return skillFolders(paths, environment.checkout);
}

export function installerOf(context: CommandContext): SkillInstaller {
  return new SkillInstaller({ places: placesOf(context), now: Date.now, variables: context.environment.variables });
}

/** Groups that have a folder. */
export function groupsWithFolder({ paths }: CommandContext): string[] {
  return existsSync(paths.groups) ? readdirSync(paths.groups).filter(isGroupName).toSorted() : [];
}
