import type { StoredGroup } from "../../domain/chats/group.ts";
import type { SettingEdit, SettingPath } from "../../domain/settings/setting.ts";
import { AppError } from "../../lib/app-error.ts";
import { formatPath } from "../faults.ts";
import { valueAfter, valueAt } from "./value-after.ts";

/**
 * Settings of a group added at run time after these edits, with paths below the group. Secrets must be variables, as
 * the store is in backups. Throws `bad_input`, and `not_found` when there is nothing to remove.
 */
export function editGroup(
  { name, settings }: Pick<StoredGroup, "name" | "settings">,
  edits: readonly SettingEdit[],
): StoredGroup["settings"] {
  for (const { path } of edits) requireSetting(name, path);
  const next = edits.reduce<unknown>((said, edit) => valueAfter(said, edit), settings) as StoredGroup["settings"];
  const secrets = next["secrets"] ?? {};
  for (const key of typeof secrets === "object" ? Object.keys(secrets) : []) {
    const value = valueAt(secrets, [key, "value"]);
    if (value === undefined || (typeof value === "string" && /^\$\{[A-Za-z_]\w*\}$/.test(value))) continue;
    throw new AppError("bad_input", `${formatPath(["groups", name, "secrets", key, "value"])} must be a variable.`, {
      fix: `Write '\${${key}}' and put the value into the environment of the host: the store, which backups copy, holds no secrets.`,
    });
  }
  return next;
}

/** Which chat a group is decides whose its folder and its messages are. */
export function requireSetting(name: string, path: SettingPath): void {
  const [key] = path;
  if (key !== "channel" && key !== "chat") return;
  throw new AppError("bad_input", `The ${key} of ${name} cannot be set: a group is one chat.`, {
    fix: "Remove the group, and add the other chat as one.",
  });
}
