import { readValue } from "../../config/editing/read-value.ts";
import { parsePath } from "../../config/editing/setting-path.ts";
import type { CommandServices, WantedSetting } from "../../surfaces/chat/command.ts";
import type { ReloadReport } from "../../domain/settings/config-state.ts";
import { memberActor } from "../../domain/people/actor.ts";
import type { SettingAuthor, SettingEdit, SettingPath } from "../../domain/settings/setting.ts";
import { AppError } from "../../lib/app-error.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import type { SettingNeeds } from "../../operations/settings/operations.ts";
import type { ContainerLauncher } from "../../sandbox/launch/launcher.ts";

/** What changes and shows settings of groups. */
export interface GroupSettings {
  setGroup(name: string, edits: readonly SettingEdit[], by: SettingAuthor): Promise<ReloadReport>;
  readonly operations: Pick<SettingNeeds["settings"], "showGroup">;
}

/**
 * What people can do with settings in a chat. `settings` are there once the host has started; commands that come before
 * wait.
 */
export function chatSettings(
  settings: () => GroupSettings | undefined,
  launcher: Pick<ContainerLauncher, "judgeWanted">,
): Pick<CommandServices, "changeSetting" | "settingsOf" | "mountsOf"> {
  const opened = (): GroupSettings => {
    const found = settings();
    if (found) return found;
    throw new Error("settings cannot be changed before the host has started");
  };
  return {
    changeSetting: async (wanted) => {
      const { group, by } = wanted;
      const edit = editOf(wanted);
      const { changes } = await opened().setGroup(group, [edit], { actor: memberActor(by), via: "chat" });
      return changes.filter(({ path }) => path === `groups.${group}` || path.startsWith(`groups.${group}.`));
    },
    settingsOf: async (group) => opened().operations.showGroup(group),
    mountsOf: async (group) => launcher.judgeWanted(group),
  };
}

/** What the operator alone decides is not changed by a chat, and what stands in the environment is not shown in one. */
function editOf({ group, key, value: text }: WantedSetting): { readonly path: SettingPath; readonly value: unknown } {
  const path = parsePath(key);
  const value = readValue(text);
  if (!isForOperator(path, value) && !text.includes("${")) return { path, value };
  throw new AppError("bad_input", `${key} cannot be set to this in a chat.`, {
    fix: `On the machine: ${ownCommand(`groups set ${group} ${key} VALUE`)}`,
  });
}

function isForOperator([section, ...below]: SettingPath, value: unknown): boolean {
  if (section === "mounts") return below.length > 0 || /"rw"/.test(JSON.stringify(value));
  return ["secrets", "main", "members"].includes(String(section));
}
