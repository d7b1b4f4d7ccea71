import { resolveGroup } from "../../../../config/resolve-group.ts";
import type { Config } from "../../../../config/schema/config.ts";
import type { Tool } from "../../../../tools/catalog.ts";
import { toCommandTool } from "../../../../tools/skills/command-tool.ts";
import type { CommandContext } from "../../context.ts";
import { skillHome } from "./skill-home.ts";

/** Tools of the skills that a group has, or that groups have by the settings for everybody. */
export async function broughtTools(
  context: CommandContext,
  config: Config,
  group: string | undefined,
): Promise<readonly Tool[]> {
  const choice = group === undefined ? config.skills : resolveGroup(config, { name: group }).skills;
  return (await skillHome(context).toolsOf(group, choice)).map((tool) => toCommandTool(tool, []));
}
