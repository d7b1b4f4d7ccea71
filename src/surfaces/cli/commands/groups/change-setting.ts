import type { Command } from "commander";

import { requireSetting } from "../../../../config/editing/edit-group.ts";
import { readValue } from "../../../../config/editing/read-value.ts";
import { parsePath } from "../../../../config/editing/setting-path.ts";
import { AppError } from "../../../../lib/app-error.ts";
import type { CommandContext } from "../../context.ts";
import { isWithoutHost } from "../../../../lib/process/control-socket.ts";
import { changeConfig } from "../config/settings.ts";
import { setGroup } from "../../../../operations/settings/operations.ts";

interface GroupEdit {
  readonly name: string;
  readonly key: string;
  /** New value; undefined resets the setting to the general one. */
  readonly value: string | undefined;
}

/** Changes a setting of a group. Without a host only groups of config.yaml can be changed. */
export async function setOfGroup(
  context: CommandContext,
  command: Command,
  { name, key, value: text }: GroupEdit,
): Promise<void> {
  const path = parsePath(key);
  const value = text === undefined ? undefined : readValue(text);
  const below = [{ path: ["groups", name, ...path], value }];
  await changeConfig(context, context.outputOf(command), below, async () => {
    try {
      return await context.host.call(setGroup, { name, edits: [{ path, value }] });
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
    `config.yaml has no group "${name}" (its groups: ${names}), and no host is running that may have it.`,
    {
      fix: "Start the host.",
    },
  );
}
