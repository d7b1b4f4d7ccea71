import { isDeepStrictEqual } from "node:util";

import { withAddedGroups } from "../../config/added-groups.ts";
import { effectAt } from "../../config/changes/change-effects.ts";
import { differences } from "../../config/changes/config-change.ts";
import type { ConfigReloader } from "../../config/changes/config-reloader.ts";
import { editGroup, requireSetting } from "../../config/editing/edit-group.ts";
import { parsePath } from "../../config/editing/setting-path.ts";
import { valueAt } from "../../config/editing/value-after.ts";
import { settingInEffect } from "../../config/explain/setting-in-effect.ts";
import { formatPath } from "../../config/faults.ts";
import { invalidConfig } from "../../config/loading/load.ts";
import type { Config } from "../../config/schema/config.ts";
import type { ReloadReport } from "../../domain/settings/config-state.ts";
import { type Group, type StoredGroup, unknownGroup } from "../../domain/chats/group.ts";
import type { SettingAuthor, SettingChange, SettingEdit } from "../../domain/settings/setting.ts";
import { AppError } from "../../lib/app-error.ts";
import type { GroupRegistry } from "../../intake/chats/group-registry.ts";
import type { GroupSettingView } from "../../operations/settings/operations.ts";
import type { ContainerLauncher } from "../../sandbox/launch/launcher.ts";
import type { AppContext } from "../context.ts";
import { recordSettings } from "./settings-history.ts";

export interface GroupSettingOptions {
  readonly groups: Pick<GroupRegistry, "list" | "byName" | "stored" | "changed">;
  readonly unusable: Set<string>;
  readonly reloader: Pick<ConfigReloader, "inTurn" | "state">;
  readonly launcher: Pick<ContainerLauncher, "judgeWanted">;
  /** Containers may not be what their group gets now. */
  readonly reviewContainers: () => void | Promise<void>;
  /** Changes config.yaml; `accept` sees the result before it is written. */
  readonly editFile: (
    edits: readonly SettingEdit[],
    by: SettingAuthor,
    accept: (config: Config) => Promise<void>,
  ) => Promise<ReloadReport>;
}

/** Changes what one group says: in config.yaml, or in the store where it was added at run time. */
export async function setGroup(
  context: AppContext,
  options: GroupSettingOptions,
  wanted: { readonly name: string; readonly edits: readonly SettingEdit[]; readonly by: SettingAuthor },
): Promise<ReloadReport> {
  const { name, edits, by } = wanted;
  if (options.groups.byName(name)?.origin === "config") {
    for (const { path } of edits) requireSetting(name, path);
    const below = edits.map(({ path, value }) => ({ path: ["groups", name, ...path], value }));
    return options.editFile(below, by, (config) => requireMounts(context, options, name, config));
  }
  return options.reloader.inTurn(() => {
    // As it is now: somebody else may have changed it while this waited.
    const stored = options.groups.stored().find((group) => group.name === name);
    if (stored) return setStored(context, options, { stored, edits, by });
    throw unknownGroup(
      name,
      options.groups.list().map((group) => group.name),
    );
  });
}

async function setStored(
  context: AppContext,
  options: GroupSettingOptions,
  {
    stored,
    edits,
    by,
  }: { readonly stored: StoredGroup; readonly edits: readonly SettingEdit[]; readonly by: SettingAuthor },
): Promise<ReloadReport> {
  const { live, adapters, environment, redaction, publish } = context;
  const { name } = stored;
  const settings = editGroup(stored, edits);
  const changes = changesOf(stored, settings);
  const config = { ...live.current, groups: without(live.current.groups, name) };
  const next = withAddedGroups({ config, adapters }, [{ ...stored, settings }], environment.variables);
  const faults = next.refused.get(name);
  if (faults) throw invalidConfig(`Nothing was changed, because the settings of ${name}`, faults);
  await requireMounts(context, options, name, next.config);
  if (changes.length > 0) {
    redaction.add(next.secrets);
    const paths = changes.map(({ path }) => path);
    await publish({ type: "settings.changed", group: name, actor: by.actor, data: { paths } });
    await recordSettings(context, { config: next.config, by, changes, group: { name, settings } });
    options.unusable.delete(name);
    await options.groups.changed(name, settings, () => live.replace(next.config));
    await options.reviewContainers();
  }
  return { changed: changes.map(({ path }) => path), changes, config: options.reloader.state() };
}

/** Secrets are variables there, which may be shown. */
function changesOf({ name, settings: before }: StoredGroup, after: StoredGroup["settings"]): SettingChange[] {
  return differences(before, after, ["groups", name]).map((path) => {
    const at = parsePath(path);
    const [from, to] = [valueAt(before, at.slice(2)), valueAt(after, at.slice(2))];
    return { path, ...(from !== undefined && { from }), ...(to !== undefined && { to }), applies: effectAt(at) };
  });
}

/** A mount that would be refused is not asked for; one that was asked for before is in nobody's way. */
async function requireMounts(
  { live }: Pick<AppContext, "live">,
  { launcher }: Pick<GroupSettingOptions, "launcher">,
  name: string,
  config: Config,
): Promise<void> {
  const before = live.current.groups[name]?.mounts ?? [];
  const mounts = config.groups[name]?.mounts ?? [];
  const isNew = mounts.map((mount) => before.every((other) => !isDeepStrictEqual(other, mount)));
  if (!isNew.includes(true)) return;
  const verdicts = await launcher.judgeWanted({ name, mounts });
  const denied = verdicts.find(({ verdict }, index) => verdict === "denied" && isNew[index]);
  if (denied)
    throw new AppError(
      "mount_denied",
      `Nothing was changed: mount ${denied.target} of group ${name}: ${denied.reason}`,
    );
}

/** Every setting of a group with its value, and whether the group says so itself. */
export function showGroup(
  context: AppContext,
  { groups }: Pick<GroupSettingOptions, "groups">,
  name: string,
): GroupSettingView[] {
  const { live, adapters } = context;
  const group: Group | undefined = groups.byName(name);
  if (!group)
    throw unknownGroup(
      name,
      groups.list().map((each) => each.name),
    );
  const shown = settingInEffect({ config: live.current, adapters }, [group], ["groups", name]) as Record<
    string,
    unknown
  >;
  const stored = groups.stored().find((each) => each.name === name);
  const said: Readonly<Record<string, unknown>> = stored ? stored.settings : (live.current.groups[name] ?? {});
  const own = stored ? "groups set" : "config.yaml";
  return Object.entries(shown).map(([key, value]) => ({
    path: formatPath([key]),
    value: value ?? null,
    from: key === "channel" || key === "chat" ? "chat" : said[key] === undefined ? "default" : own,
  }));
}

function without(groups: Config["groups"], name: string): Config["groups"] {
  const { [name]: _, ...others } = groups;
  return others;
}
