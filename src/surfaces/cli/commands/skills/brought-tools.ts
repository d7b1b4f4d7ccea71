import { resolveGroup } from "../../../../config/resolve-group.ts";
import type { Config } from "../../../../config/schema/config.ts";
import { isChosen, wantsNone } from "../../../../domain/sandbox/skill.ts";
import { findFor, isUsable } from "../../../../abilities/skills/places.ts";
import type { Tool } from "../../../../tools/catalog.ts";
import { toCommandTool } from "../../../../tools/skills/command-tool.ts";
import type { CommandContext } from "../../context.ts";
import { placesOf } from "./places.ts";

/** Tools of the skills that a group has, or that groups have by the settings for everybody. */
export async function broughtTools(
  context: CommandContext,
  config: Config,
  group: string | undefined,
): Promise<readonly Tool[]> {
  const choice = group === undefined ? config.skills : resolveGroup(config, { name: group }).skills;
  if (wantsNone(choice)) return [];
  const found = await findFor(placesOf(context), group);
  const usable = found.filter(isUsable).filter((one) => isChosen(choice, one));
  return usable.flatMap((skill) => skill.tools.map(toCommandTool));
}
