import type { SettingChange } from "./setting.ts";

/**
 * Configuration files compared with the running configuration. `applied`: in effect. `invalid`: a file is unusable; a
 * broken config.yaml changes nothing, a broken mounts.json means no mounts. `restart-needed`: the rest is applied.
 */
export interface ConfigState {
  readonly state: "applied" | "invalid" | "restart-needed";
  /** Milliseconds since 1970. */
  readonly since: number;
  /** Faults, each with its file and path. */
  readonly faults?: readonly string[] | undefined;
  /** Paths of changed settings that need a restart. */
  readonly restart?: readonly string[] | undefined;
}

/** In which settings, by path, config.yaml differs from what runs. */
export interface ConfigDifferences {
  /** Reasons why the file is unusable; then there are no differences. */
  readonly faults: readonly string[];
  readonly differences: readonly SettingChange[];
}

/** Result of a reload: paths of applied settings, and the state of the files. */
export interface ReloadReport {
  readonly changed: readonly string[];
  /** The same with their values, and what is written and waits for a restart. */
  readonly changes: readonly SettingChange[];
  readonly config: ConfigState;
}
