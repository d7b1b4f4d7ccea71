import type { SettingEdit } from "../../domain/settings/setting.ts";
import { readValue } from "./read-value.ts";
import { parsePath } from "./setting-path.ts";

/** Reads a change as people type it: the value is YAML; without one the setting is removed. Throws `usage`. */
export function readEdit(path: string, value?: string): SettingEdit {
  return { path: parsePath(path), value: value === undefined ? undefined : readValue(value) };
}
