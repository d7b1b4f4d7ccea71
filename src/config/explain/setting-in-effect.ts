import type { Group } from "../../domain/chats/group.ts";
import type { SettingPath } from "../../domain/settings/setting.ts";
import { AppError } from "../../lib/app-error.ts";
import { nearest } from "../../lib/text/nearest.ts";
import type { Adapters } from "../adapters.ts";
import { valueAt } from "../editing/value-after.ts";
import { formatPath, knownKeys } from "../faults.ts";
import { groupInEffect } from "../configured/groups.ts";
import { policyInEffect } from "../policy-in-effect.ts";
import type { Config } from "../schema/config.ts";
import { configJsonSchema } from "../schema/json-schema.ts";
import { maskedConfig } from "./mask.ts";

/**
 * The value that the host works with, secrets masked; of a group also what it has from the settings for everybody.
 * Null: it may be set and is not. Throws `not_found` for what is no setting.
 */
export function settingInEffect(
  loaded: { readonly config: Config; readonly adapters: Adapters },
  groups: readonly Group[],
  path: SettingPath,
): unknown {
  const { config, adapters } = loaded;
  const whole = {
    ...config,
    policy: policyInEffect(config),
    groups: Object.fromEntries(groups.map((group) => [group.name, groupInEffect(loaded, group)])),
  };
  // Of the shape of a configuration, with more of it filled in.
  const shown = maskedConfig(whole as unknown as Config, adapters);
  const value = valueAt(shown, path);
  if (value !== undefined) return value;
  requireKnown(shown, path, adapters);
  return null;
}

function requireKnown(shown: unknown, path: SettingPath, adapters: Adapters): void {
  const schema = configJsonSchema(adapters);
  for (const [depth, key] of path.entries()) {
    const above = path.slice(0, depth);
    const section = valueAt(shown, above);
    if (typeof section === "object" && section !== null && Object.hasOwn(section, key)) continue;
    const possible = knownKeys(schema, above, shown);
    if (possible.includes(String(key))) return requireKnownBelow(schema, path, depth + 1, shown);
    throw unknownSetting(path.slice(0, depth + 1), [...possible, ...Object.keys(section ?? {})]);
  }
}

/** Below what is not set there are no values, only what could be. */
function requireKnownBelow(
  schema: ReturnType<typeof configJsonSchema>,
  path: SettingPath,
  from: number,
  shown: unknown,
): void {
  for (let depth = from; depth < path.length; depth += 1) {
    const possible = knownKeys(schema, path.slice(0, depth), shown);
    if (possible.length === 0) return;
    if (!possible.includes(String(path[depth]))) throw unknownSetting(path.slice(0, depth + 1), possible);
  }
}

function unknownSetting(path: SettingPath, known: readonly string[]): AppError {
  const near = nearest(String(path.at(-1)), known);
  const hint =
    near === undefined
      ? `known here: ${known.join(", ") || "nothing"}`
      : `did you mean ${formatPath([...path.slice(0, -1), near])}?`;
  return new AppError("not_found", `There is no setting ${formatPath(path)}; ${hint}`);
}
