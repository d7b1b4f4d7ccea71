import type { Actor } from "../people/actor.ts";

/** Path of a setting in config.yaml: `["models", "routes", "main", 0]`. Numbers are list indexes. */
export type SettingPath = readonly (string | number)[];

/**
 * When a changed setting takes effect in a running host: from the next turn or message on, with a new container, or
 * after a restart.
 */
export type SettingEffect = "now" | "container" | "restart";

/** A change of one setting. */
export interface SettingEdit {
  readonly path: SettingPath;
  /** The new YAML value; undefined removes the setting. */
  readonly value: unknown;
}

/**
 * A setting that differs, by the path that `formatPath` writes. Values are as far as they may be shown: secrets are
 * `***`.
 */
export interface SettingChange {
  readonly path: string;
  /** Absent: it was missing. */
  readonly from?: unknown;
  /** Absent: it is removed. */
  readonly to?: unknown;
  /** When the change takes effect: now, with the group's next container, or after a restart. */
  readonly applies: SettingEffect;
}

/** The author of a settings change, and the way: file, command, chat, or found at a start. */
export interface SettingAuthor {
  readonly actor: Actor;
  readonly via: "file" | "command" | "chat" | "start";
}

/** A change of a setting that took effect. `time` in milliseconds since 1970; ids count up. */
export interface SettingRecord extends SettingAuthor, Omit<SettingChange, "applies"> {
  readonly id: number;
  readonly time: number;
}
