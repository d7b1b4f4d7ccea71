import type { SettingChange } from "../../domain/settings/setting.ts";
import type { Adapters } from "../adapters.ts";
import { effectAt } from "../changes/change-effects.ts";
import type { ConfigChange } from "../changes/config-change.ts";
import { parsePath } from "../editing/setting-path.ts";
import { valueAt } from "../editing/value-after.ts";
import type { Config } from "../schema/config.ts";
import { maskedConfig } from "./mask.ts";

/** Says of each setting in which `wanted` differs from what runs what it was, what it is to be, and when that holds. */
export function settingChanges(
  change: ConfigChange,
  { running, wanted, adapters }: { readonly running: Config; readonly wanted: Config; readonly adapters: Adapters },
): SettingChange[] {
  if (change.now.length + change.restart.length === 0) return [];
  const [before, after] = [maskedConfig(running, adapters), maskedConfig(wanted, adapters)];
  const describe = (path: string, applies?: "restart"): SettingChange => {
    const at = parsePath(path);
    const [from, to] = [valueAt(before, at), valueAt(after, at)];
    return {
      path,
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
      applies: applies ?? effectAt(at),
    };
  };
  return [...change.now.map((path) => describe(path)), ...change.restart.map((path) => describe(path, "restart"))];
}
