import type { Command } from "commander";

import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";
import { showGroup } from "../../../../operations/settings/operations.ts";

/** What reads and changes configurations is loaded by what needs it: `groups list` does not. */
const loadChange = () => import("./change-setting.ts");

export function addGroupSettings(groups: Command, context: CommandContext): void {
  addLeaf(
    groups,
    "show <name>",
    "every setting of a group, and whether the group says so itself; secrets are masked",
  ).action(async (name: string, _options: object, command: Command) => {
    const { showValue } = await import("../config/settings.ts");
    context.outputOf(command).items(
      await context.call(showGroup, { name }),
      [
        { title: "setting", of: ({ path }) => path },
        { title: "value", of: ({ value }) => (value === null ? "" : showValue(value)) },
        { title: "from", of: ({ from }) => from },
      ],
      "There are no settings.",
    );
  });

  addLeaf(
    groups,
    "set <name> <key> <value>",
    "change a setting of a group, such as trigger or policy.tools; the value is YAML",
  ).action(async (name: string, key: string, ...[value, , command]: [string, object, Command]) =>
    (await loadChange()).setOfGroup(context, command, { name, key, value }),
  );

  addLeaf(groups, "unset <name> <key>", "let a group have a setting as everybody has it").action(
    async (name: string, key: string, _options: object, command: Command) =>
      (await loadChange()).setOfGroup(context, command, { name, key, value: undefined }),
  );
}
