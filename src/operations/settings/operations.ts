import * as z from "zod";

import type { ConfigDifferences, ConfigState, ReloadReport } from "../../domain/settings/config-state.ts";
import type { SettingChange, SettingEdit, SettingPath, SettingRecord } from "../../domain/settings/setting.ts";
import type { Store } from "../../stores/contract/store.ts";
import { defineOperation } from "../definition/define-operation.ts";
import { limit, list, name, nothing, time } from "../definition/schemas.ts";

/** A setting by its path, and its value as far as it may be shown. */
const settingView = z.strictObject({ path: z.string(), value: z.unknown().describe("Secrets are masked") });

/** A setting of a group with its origin. */
const groupSettingView = settingView.extend({
  from: z.string().describe("`config.yaml`, `groups set`, `default` (the settings for everybody), or `chat`"),
});

export type SettingView = z.infer<typeof settingView>;
export type GroupSettingView = z.infer<typeof groupSettingView>;

/** The parts that read and change settings while the host runs. */
export interface SettingNeeds {
  readonly config: {
    state(): ConfigState;
    reload(): Promise<ReloadReport>;
    diff(): Promise<ConfigDifferences>;
  };
  readonly settings: {
    /** The value in effect; null where the setting is not set. */
    get(path: string): Promise<SettingView>;
    /** All edits or none. Rejects with `config_invalid` where the file could not be used then. */
    edit(edits: readonly SettingEdit[]): Promise<ReloadReport>;
    /** Rejects with `not_found`. */
    showGroup(group: string): Promise<readonly GroupSettingView[]>;
    /** In config.yaml or in the store; paths begin below the group. Rejects like `edit`, and with `mount_denied`. */
    setGroup(group: string, edits: readonly SettingEdit[]): Promise<ReloadReport>;
  };
}

const settingPath: z.ZodType<SettingPath, SettingPath> = z
  .array(z.union([z.string().max(1024), z.number().int().min(0)]))
  .min(1)
  .max(32);
/** Without a value the setting is removed. */
const settingEdits = z
  .array(z.strictObject({ path: settingPath, value: z.unknown() }).partial({ value: true }))
  .min(1)
  .max(100)
  .transform((edits) => edits.map(({ path, value }) => ({ path, value })));

const settingChange: z.ZodType<SettingChange> = z.strictObject({
  path: z.string(),
  from: z.unknown().optional().describe("Absent: it was missing"),
  to: z.unknown().optional().describe("Absent: it is removed"),
  applies: z.enum(["now", "container", "restart"]),
});

/** State of the configuration files. */
export const configState: z.ZodType<ConfigState> = z.strictObject({
  state: z.enum(["applied", "invalid", "restart-needed"]),
  since: time,
  faults: list(z.string()).optional(),
  restart: list(z.string()).optional().describe("Paths of changed settings that need a restart"),
});

const reloadReport: z.ZodType<ReloadReport> = z.strictObject({
  changed: list(z.string()).describe("Paths of settings that were applied"),
  changes: list(settingChange),
  config: configState,
});

const settingRecord: z.ZodType<SettingRecord> = z.strictObject({
  id: z.number(),
  time,
  path: z.string(),
  from: z.unknown().optional(),
  to: z.unknown().optional(),
  actor: z.custom<SettingRecord["actor"]>(),
  via: z.enum(["file", "command", "chat", "start"]),
});

/** An invalid file is an answer, not an error. */
export const applyConfig = defineOperation<SettingNeeds>()({
  name: "config.apply",
  summary: "read the configuration again and apply all that can hold now",
  input: nothing,
  output: reloadReport,
  may: { scope: "admin" },
  effect: "change",
  run: ({ config }) => config.reload(),
});

export const diffConfig = defineOperation<SettingNeeds>()({
  name: "config.diff",
  summary: "list settings in which config.yaml differs from what runs",
  input: nothing,
  output: z.strictObject({ faults: list(z.string()), differences: list(settingChange) }),
  may: { scope: "read" },
  effect: "none",
  run: ({ config }) => config.diff(),
});

export const getSetting = defineOperation<SettingNeeds>()({
  name: "config.get",
  summary: "show the value of a setting that is in effect",
  input: z.strictObject({ path: z.string().min(1).max(1024) }),
  output: settingView,
  may: { scope: "read" },
  effect: "none",
  run: ({ settings }, { path }) => settings.get(path),
});

export const editSettings = defineOperation<SettingNeeds>()({
  name: "config.edit",
  summary: "change config.yaml and apply it, all of it or nothing",
  input: z.strictObject({ edits: settingEdits }),
  output: reloadReport,
  may: { scope: "admin" },
  effect: "change",
  record: ({ edits }) => ({ paths: pathsOf(edits) }),
  cli: "none",
  run: ({ settings }, { edits }) => settings.edit(edits),
});

export const configHistory = defineOperation<{
  readonly store: { readonly settings: Pick<Store["settings"], "history"> };
}>()({
  name: "config.history",
  summary: "list changes of settings that took effect, newest first",
  input: z.strictObject({ path: name.optional(), limit: limit(50, 10_000) }),
  output: list(settingRecord),
  may: { scope: "read" },
  effect: "none",
  offline: true,
  run: ({ store }, filter) => store.settings.history(filter),
});

export const showGroup = defineOperation<SettingNeeds>()({
  name: "groups.show",
  summary: "list every setting of a group with its value",
  input: z.strictObject({ name }),
  output: list(groupSettingView),
  may: { scope: "read" },
  effect: "none",
  cli: {
    args: ["name"],
    table: [
      { field: "path", title: "setting" },
      {
        title: "value",
        of: ({ value }) => (typeof value === "string" ? value : value === null ? "" : JSON.stringify(value)),
      },
      "from",
    ],
    none: () => "There are no settings.",
  },
  run: ({ settings }, { name: group }) => settings.showGroup(group),
});

export const setGroup = defineOperation<SettingNeeds>()({
  name: "groups.set",
  summary: "change settings of a group, in config.yaml or in the store",
  input: z.strictObject({ name, edits: settingEdits }),
  output: reloadReport,
  may: { scope: "admin" },
  effect: "change",
  record: ({ name: group, edits }) => ({ name: group, paths: pathsOf(edits) }),
  run: ({ settings }, { name: group, edits }) => settings.setGroup(group, edits),
});

function pathsOf(edits: readonly SettingEdit[]): string {
  return edits.map(({ path }) => path.join(".")).join(" ");
}

/** Operations on the configuration. */
export const configOperations = [applyConfig, diffConfig, getSetting, editSettings, configHistory] as const;

/** Operations on settings of groups. */
export const groupSettingOperations = [showGroup, setGroup] as const;
