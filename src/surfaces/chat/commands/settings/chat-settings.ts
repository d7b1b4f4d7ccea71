import { readValue } from "../../../../config/editing/read-value.ts";
import { parsePath } from "../../../../config/editing/setting-path.ts";
import type { SettingsService } from "../../../../config/serving/settings-service.ts";
import { memberActor } from "../../../../domain/people/actor.ts";
import type { SettingPath } from "../../../../domain/settings/setting.ts";
import { AppError } from "../../../../lib/app-error.ts";
import { ownCommand } from "../../../../lib/process/own-command.ts";
import type { ContainerLauncher } from "../../../../sandbox/launch/launcher.ts";
import type { SettingServices, WantedSetting } from "../../command.ts";

/** Shows and changes settings for people in a chat. */
export function chatSettings(
  settings: Pick<SettingsService, "setGroup" | "showGroup">,
  launcher: Pick<ContainerLauncher, "judgeWanted">,
): Pick<SettingServices, "change" | "mountsOf" | "show"> {
  return {
    change: async (wanted) => {
      const { group, by } = wanted;
      const edit = editOf(wanted);
      const { changes } = await settings.setGroup(group, [edit], { actor: memberActor(by), via: "chat" });
      return changes.filter(({ path }) => path === `groups.${group}` || path.startsWith(`groups.${group}.`));
    },
    show: (group) => settings.showGroup(group),
    mountsOf: (group) => launcher.judgeWanted(group),
  };
}

/** Refuses what only the operator decides, and values from the environment, which must not show in a chat. */
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
