import type { Command } from "commander";

import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";

/** Loads configuration code only when needed: `groups list` does not. */
const loadChange = () => import("./change-setting.ts");

export function addGroupSettings(groups: Command, context: CommandContext): void {
  addLeaf(
    groups,
    "set <name> <key> <value>",
    "change a setting of a group, such as trigger or policy.tools; the value is YAML",
  ).action(async (name: string, key: string, ...[value, , command]: [string, object, Command]) =>
    (await loadChange()).setOfGroup(context, command, { name, key, value }),
  );

  addLeaf(groups, "unset <name> <key>", "reset a setting of a group to the general one").action(
    async (name: string, key: string, _options: object, command: Command) =>
      (await loadChange()).setOfGroup(context, command, { name, key, value: undefined }),
  );
}
