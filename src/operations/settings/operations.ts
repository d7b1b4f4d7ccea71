import * as z from "zod";

import type { ConfigDifferences, ConfigState, ReloadReport } from "../../domain/settings/config-state.ts";
import type {
  SettingAuthor,
  SettingChange,
  SettingEdit,
  SettingPath,
  SettingRecord,
} from "../../domain/settings/setting.ts";
import { AppError } from "../../lib/app-error.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { nearest } from "../../lib/text/nearest.ts";
import { quotedName } from "../../lib/text/plain-words.ts";
import type { Store } from "../../stores/contract/store.ts";
import { defineOperation } from "../definition/define-operation.ts";
import { isoTime, limit, list, name, nothing, time } from "../definition/schemas.ts";
import { describeGroupChanges, describeSettings } from "./setting-words.ts";

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
  /** Names of the routes of models. */
  readonly routes: readonly string[];
  readonly settings: {
    /** The value in effect; null where the setting is not set. */
    get(path: string): Promise<SettingView>;
    /** Reads a path and a value as people type them: YAML; without a value the setting is removed. Throws `usage`. */
    readEdit(path: string, value?: string): SettingEdit;
    /** All edits or none. Rejects with `config_invalid` where the file could not be used then. */
    edit(edits: readonly SettingEdit[]): Promise<SettingReport>;
    /** Rejects with `not_found`. */
    showGroup(group: string): Promise<readonly GroupSettingView[]>;
    /** In config.yaml or in the store; paths begin below the group. Rejects like `edit`, and with `mount_denied`. */
    setGroup(group: string, edits: readonly SettingEdit[], by?: SettingAuthor): Promise<SettingReport>;
  };
}

/** `family.policy` */
const typedPath = z.string().min(1).max(1024).describe("its keys with dots between them, such as groups.family.policy");
const typedValue = z.string().max(64_000).describe("YAML");
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

const settingReport = z.union([
  reloadReport,
  z
    .strictObject({ file: z.string(), paths: list(z.string()), applies: z.literal("start") })
    .describe("Where no host runs"),
]);

export type SettingRecordView = z.infer<typeof settingRecord>;

/** The outcome of a change, also without a host. */
export type SettingReport = z.infer<typeof settingReport>;

const settingRecord = z.strictObject({
  id: z.number(),
  time: isoTime,
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
  cli: [
    { help: "reload config.yaml and mounts.json now, as SIGHUP does", fails },
    { command: "reload", help: "reload config.yaml and mounts.json now, as SIGHUP does", fails },
  ],
  run: ({ config }) => config.reload(),
});

export const diffConfig = defineOperation<SettingNeeds>()({
  name: "config.diff",
  summary: "list settings in which config.yaml differs from what runs",
  input: nothing,
  output: z.strictObject({ faults: list(z.string()), differences: list(settingChange) }),
  may: { scope: "read" },
  effect: "none",
  cli: {
    shows: ({ faults, differences }) => (faults.length > 0 ? { faults } : differences),
    fails: ({ faults }) => faults.length > 0,
  },
  run: ({ config }) => config.diff(),
});

export const getSetting = defineOperation<SettingNeeds>()({
  name: "config.get",
  summary: "show the value of a setting that is in effect; secrets are masked",
  input: z.strictObject({ path: typedPath }),
  output: settingView,
  may: { scope: "read" },
  effect: "none",
  offline: true,
  cli: { args: ["path"] },
  run: ({ settings }, { path }) => settings.get(path),
});

export const setSetting = defineOperation<SettingNeeds>()({
  name: "config.set",
  summary: "change a setting in config.yaml and apply it",
  input: z.strictObject({ path: typedPath, value: typedValue }),
  output: settingReport,
  may: { scope: "admin" },
  effect: "change",
  offline: true,
  record: ({ path }) => ({ paths: path }),
  cli: { args: ["path", "value"], fails },
  run: async ({ settings }, { path, value }) => settings.edit([settings.readEdit(path, value)]),
});

export const unsetSetting = defineOperation<SettingNeeds>()({
  name: "config.unset",
  summary: "remove a setting from config.yaml and apply that",
  input: z.strictObject({ path: typedPath }),
  output: settingReport,
  may: { scope: "admin" },
  effect: "change",
  offline: true,
  record: ({ path }) => ({ paths: path }),
  cli: { args: ["path"], fails },
  run: async ({ settings }, { path }) => settings.edit([settings.readEdit(path)]),
});

export const editSettings = defineOperation<SettingNeeds>()({
  name: "config.edit",
  summary: "change config.yaml and apply it, all of it or nothing",
  input: z.strictObject({ edits: settingEdits }),
  output: settingReport,
  may: { scope: "admin" },
  effect: "change",
  offline: true,
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
  cli: { args: ["path"] },
  run: async ({ store }, filter) =>
    (await store.settings.history(filter)).map((record) => ({ ...record, time: new Date(record.time).toISOString() })),
});

export const showGroup = defineOperation<SettingNeeds>()({
  name: "groups.show",
  summary: "list every setting of a group with its value",
  input: z.strictObject({ group: name }),
  output: list(groupSettingView),
  may: { scope: "read", role: "admin", fromMain: "admin" },
  effect: "none",
  chat: { form: "/settings [GROUP]", say: describeSettings },
  cli: {
    args: ["group"],
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
  run: ({ settings }, { group }) => settings.showGroup(group),
});

export const setGroup = defineOperation<SettingNeeds>()({
  name: "groups.set",
  summary: "change a setting of a group, such as trigger or policy.tools, in config.yaml or in the store",
  input: z.strictObject({ group: name, key: typedPath, value: typedValue }),
  output: settingReport,
  may: { scope: "admin", role: "admin", fromMain: "admin", refusal: "Changing settings needs an admin." },
  effect: "change",
  offline: true,
  record: ({ group, key }) => ({ group, paths: key }),
  cli: { args: ["group", "key", "value"], fails },
  chat: [
    {
      form: "/set GROUP KEY VALUE…",
      say: (report, _view, { group, key }) =>
        describeGroupChanges(report, group) ?? `${key} of ${group} is already set to that.`,
      tellsFix: true,
    },
    {
      form: "/model ROUTE",
      input: ({ route = "" }) => ({ key: "model", value: route }),
      say: (report, _view, { group, value }) => describeGroupChanges(report, group) ?? `The route is already ${value}.`,
      tellsFix: true,
    },
  ],
  run: async ({ settings, routes }, { group, key, value }, { actor, member }) => {
    const edit = settings.readEdit(key, value);
    if (!member) return settings.setGroup(group, [edit]);
    requireForMembers(edit, { group, key, value });
    if (key === "model" && !routes.includes(value)) throw unknownRoute(value, routes);
    return settings.setGroup(group, [edit], { actor, via: "chat" });
  },
});

export const unsetGroup = defineOperation<SettingNeeds>()({
  name: "groups.unset",
  summary: "reset a setting of a group to the general one",
  input: z.strictObject({ group: name, key: typedPath }),
  output: settingReport,
  may: { scope: "admin" },
  effect: "change",
  offline: true,
  record: ({ group, key }) => ({ group, paths: key }),
  cli: { args: ["group", "key"], fails },
  run: async ({ settings }, { group, key }) => settings.setGroup(group, [settings.readEdit(key)]),
});

export const editGroupSettings = defineOperation<SettingNeeds>()({
  name: "groups.edit",
  summary: "change settings of a group, all of it or nothing",
  input: z.strictObject({ name, edits: settingEdits }),
  output: settingReport,
  may: { scope: "admin" },
  effect: "change",
  record: ({ name: group, edits }) => ({ name: group, paths: pathsOf(edits) }),
  cli: "none",
  run: ({ settings }, { name: group, edits }) => settings.setGroup(group, edits),
});

/** Refuses what only the operator decides, and values from the environment, which must not show in a chat. */
function requireForMembers(
  { path: [section, ...below], value }: SettingEdit,
  typed: { readonly group: string; readonly key: string; readonly value: string },
): void {
  const isWritable = section === "mounts" && (below.length > 0 || /"(?:rw|review)"/.test(JSON.stringify(value)));
  if (!isWritable && !["secrets", "main", "members"].includes(String(section)) && !typed.value.includes("${")) return;
  throw new AppError("bad_input", `${typed.key} cannot be set to this in a chat.`, {
    fix: `On the machine: ${ownCommand(`groups set ${typed.group} ${typed.key} VALUE`)}`,
  });
}

function unknownRoute(wanted: string, routes: readonly string[]): AppError {
  const meant = nearest(wanted, routes);
  const hint = meant === undefined ? `Routes: ${routes.join(", ")}.` : `Did you mean ${meant}?`;
  return new AppError("bad_input", `There is no route ${quotedName(wanted)}. ${hint}`);
}

/** A file that cannot be used is a failure of the command, though the change was made. */
function fails(report: SettingReport): boolean {
  return "config" in report && report.config.faults !== undefined;
}

function pathsOf(edits: readonly SettingEdit[]): string {
  return edits.map(({ path }) => path.join(".")).join(" ");
}

/** Operations on the configuration. */
export const configOperations = [
  applyConfig,
  diffConfig,
  getSetting,
  setSetting,
  unsetSetting,
  editSettings,
  configHistory,
] as const;

/** Operations on settings of groups. */
export const groupSettingOperations = [showGroup, setGroup, unsetGroup, editGroupSettings] as const;
