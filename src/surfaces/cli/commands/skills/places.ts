import { existsSync, readdirSync } from "node:fs";

import { isGroupName } from "../../../../domain/chats/group.ts";
import { SkillInstaller } from "../../../../abilities/skills/install/installer.ts";
import { type SkillPlaces, skillPlaces } from "../../../../abilities/skills/places.ts";
import type { CommandContext } from "../../context.ts";

/** Where skills are in this home. */
export function placesOf({ paths, environment }: CommandContext): SkillPlaces {
  return skillPlaces(paths, environment.checkout);
}

export function installerOf(context: CommandContext): SkillInstaller {
  return new SkillInstaller({ places: placesOf(context), now: Date.now, variables: context.environment.variables });
}

/** What lists of skills are made with. */
export function listOptions(context: CommandContext): { readonly places: SkillPlaces; readonly hostUid: number } {
  return { places: placesOf(context), hostUid: process.geteuid?.() ?? 0 };
}

/** Groups that have a folder. */
export function groupsWithFolder({ paths }: CommandContext): string[] {
  return existsSync(paths.groups) ? readdirSync(paths.groups).filter(isGroupName).toSorted() : [];
}
