import { configuredGroups } from "../../../config/configured/groups.ts";
import { editConfig } from "../../../config/editing/edit-config.ts";
import { requireSetting } from "../../../config/editing/edit-group.ts";
import { readEdit } from "../../../config/editing/read-edit.ts";
import { parsePath } from "../../../config/editing/setting-path.ts";
import { settingInEffect } from "../../../config/explain/setting-in-effect.ts";
import { formatPath } from "../../../config/faults.ts";
import { checkConfigText } from "../../../config/loading/load.ts";
import type { SettingEdit } from "../../../domain/settings/setting.ts";
import { AppError } from "../../../lib/app-error.ts";
import type { SettingNeeds, SettingReport } from "../../../operations/settings/operations.ts";
import type { CommandContext } from "../context.ts";

type SettingFile = {
  readonly settings: Pick<SettingNeeds["settings"], "get" | "readEdit" | "edit" | "setGroup">;
};

/** Reads and changes config.yaml itself; only groups that stand there can be changed. */
export async function openSettingFile(context: CommandContext): Promise<SettingFile & AsyncDisposable> {
  return {
    settings: {
      readEdit,
      get: async (text) => {
        const path = parsePath(text);
        const loaded = await context.loadConfig();
        return { path: text, value: settingInEffect(loaded, configuredGroups(loaded.config), path) };
      },
      edit: (edits) => changeFile(context, edits),
      setGroup: async (name, edits) => {
        await requireConfigured(context, name);
        for (const { path } of edits) requireSetting(name, path);
        return changeFile(
          context,
          edits.map(({ path, value }) => ({ path: ["groups", name, ...path], value })),
        );
      },
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

async function changeFile(context: CommandContext, edits: readonly SettingEdit[]): Promise<SettingReport> {
  const file = context.paths.config;
  const { variables } = context.environment;
  const adapters = await context.adapters();
  const check = (text: string) => checkConfigText(text, variables, adapters);
  await editConfig(file, edits, { variables, adapters, check });
  return { file, paths: edits.map(({ path }) => formatPath(path)), applies: "start" };
}

async function requireConfigured(context: CommandContext, name: string): Promise<void> {
  const { config } = await context.loadConfig();
  if (Object.hasOwn(config.groups, name)) return;
  const names = Object.keys(config.groups).join(", ") || "none";
  throw new AppError(
    "no_host",
    `config.yaml has no group "${name}" (its groups: ${names}), and no host is running that may have it.`,
    { fix: "Start the host." },
  );
}
