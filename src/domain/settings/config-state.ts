import type { SettingChange } from "./setting.ts";

/**
 * How the files of the configuration stand to what runs. `applied`: it is what they say. `invalid`: one of them cannot
 * be used; config.yaml has changed nothing then, and without a usable mounts.json there are no mounts.
 * `restart-needed`: the rest is applied.
 */
export interface ConfigState {
  readonly state: "applied" | "invalid" | "restart-needed";
  /** Milliseconds since 1970. */
  readonly since: number;
  /** What is wrong, each with its file and, where it has one, its path. */
  readonly faults?: readonly string[] | undefined;
  /** Paths of changed settings that need a restart. */
  readonly restart?: readonly string[] | undefined;
}

/** In which settings, by path, config.yaml differs from what runs. */
export interface ConfigDifferences {
  /** Why the file cannot be used; there are no differences then. */
  readonly faults: readonly string[];
  readonly differences: readonly SettingChange[];
}

/**
 * What reading the files again has done: paths of settings that were applied, and how the files stand to what runs now.
 */
export interface ReloadReport {
  readonly changed: readonly string[];
  /** The same with their values, and what is written and waits for a restart. */
  readonly changes: readonly SettingChange[];
  readonly config: ConfigState;
}
