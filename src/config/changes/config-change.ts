import { isDeepStrictEqual } from "node:util";

import type { SettingEffect } from "../../domain/settings/setting.ts";
import { changeEffects } from "./change-effects.ts";
import { formatPath } from "../faults.ts";
import type { Config } from "../schema/config.ts";

/** Changes needed to go from the running configuration to another one. Paths of settings, never values. */
export interface ConfigChange {
  /** The wanted settings, without those that need a restart. */
  readonly effective: Config;
  /** In which settings `effective` differs from what runs. */
  readonly now: readonly string[];
  /** In which settings `effective` differs from what is wanted: they need a restart. */
  readonly restart: readonly string[];
}

/** Splits a change into what takes effect now and what needs a restart. */
export function planChange(running: Config, wanted: Config): ConfigChange {
  const possible = effectiveConfig(running, wanted);
  const restart = differences(possible, wanted);
  const effective = restart.length === 0 ? wanted : possible;
  return { effective, now: differences(running, effective), restart };
}

function effectiveConfig(running: Config, wanted: Config): Config {
  const table: Readonly<Record<string, SettingEffect | Readonly<Record<string, SettingEffect>>>> = changeEffects;
  const sections = Object.entries(wanted).map(([section, value]) => {
    const effect = table[section] ?? "restart";
    const old = running[section as keyof Config];
    return [section, typeof effect === "string" ? choose(effect, old, value) : mixed(effect, old, value)] as const;
  });
  const config = Object.fromEntries(sections) as Config;
  // Nobody could speak in a group whose channel does not run yet.
  const groups = Object.entries(wanted.groups).filter(([, { channel }]) => Object.hasOwn(running.channels, channel));
  return Object.freeze({ ...config, groups: Object.freeze(Object.fromEntries(groups)) });
}

function choose<Value>(effect: SettingEffect, old: Value, wanted: Value): Value {
  return effect === "restart" ? old : wanted;
}

/** A section of which some keys need a restart. */
function mixed(effects: Readonly<Record<string, SettingEffect>>, old: unknown, wanted: unknown): unknown {
  const [before, after] = [asRecord(old), asRecord(wanted)];
  const entries = Object.entries(effects).flatMap(([key, effect]) => {
    const from = choose(effect, before, after);
    return from && Object.hasOwn(from, key) ? [[key, from[key]] as const] : [];
  });
  return Object.freeze(Object.fromEntries(entries));
}

/** Paths of the settings in which two configurations differ; of what only one of them has, the path of the whole. */
export function differences(one: unknown, other: unknown, path: readonly string[] = []): string[] {
  const [left, right] = [asRecord(one), asRecord(other)];
  if (!left || !right) return isDeepStrictEqual(one, other) ? [] : [formatPath(path)];
  const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...keys].flatMap((key) => differences(left[key], right[key], [...path, key]));
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return value as Readonly<Record<string, unknown>>;
}
