import type { Command } from "commander";

import { requireSetting } from "../../../../config/editing/edit-group.ts";
import { readValue } from "../../../../config/editing/read-value.ts";
import { parsePath } from "../../../../config/editing/setting-path.ts";
import type { SettingPath } from "../../../../domain/setting.ts";
import { AppError } from "../../../../lib/app-error.ts";
import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";
import { isWithoutHost } from "../../control-socket.ts";
import { changeConfig, showValue } from "../config/settings.ts";
import { setGroup, showGroup } from "../../../../operations/settings/operations.ts";

export function addGroupSettings(groups: Command, context: CommandContext): void {
  addLeaf(
    groups,
    "show <name>",
    "every setting of a group, and whether the group says so itself; secrets are masked",
  ).action(async (name: string, _options: object, command: Command) => {
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
  ).action((name: string, key: string, ...[value, , command]: [string, object, Command]) =>
    change(context, command, { name, path: parsePath(key), value: readValue(value) }),
  );

  addLeaf(groups, "unset <name> <key>", "let a group have a setting as everybody has it").action(
    (name: string, key: string, _options: object, command: Command) =>
      change(context, command, { name, path: parsePath(key), value: undefined }),
  );
}

interface GroupEdit {
  readonly name: string;
  readonly path: SettingPath;
  readonly value: unknown;
}

/** Without a host only groups of config.yaml can be changed. */
async function change(context: CommandContext, command: Command, { name, path, value }: GroupEdit): Promise<void> {
  const below = [{ path: ["groups", name, ...path], value }];
  await changeConfig(context, context.outputOf(command), below, async () => {
    try {
      return await context.call(setGroup, { name, edits: [{ path, value }] });
    } catch (error) {
      if (isWithoutHost(error)) await requireConfigured(context, name);
      requireSetting(name, path);
      throw error;
    }
  });
}

async function requireConfigured(context: CommandContext, name: string): Promise<void> {
  const { config } = await context.loadConfig();
  if (Object.hasOwn(config.groups, name)) return;
  const names = Object.keys(config.groups).join(", ") || "none";
  throw new AppError(
    "no_host",
    `config.yaml has no group "${name}" (it has: ${names}), and no host is running that could know it.`,
    {
      fix: "Start the host.",
    },
  );
}
