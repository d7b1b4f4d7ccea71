import { isDeepStrictEqual } from "node:util";

import type { ReloadReport } from "../../domain/settings/config-state.ts";
import type { Publish } from "../../domain/events/event.ts";
import { type StoredGroup, unknownGroup } from "../../domain/chats/group.ts";
import type { SettingAuthor, SettingChange, SettingEdit } from "../../domain/settings/setting.ts";
import { AppError } from "../../lib/app-error.ts";
import type { GroupSettingView, SettingView } from "../../operations/settings/operations.ts";
import type { ContainerLauncher } from "../../sandbox/launch/launcher.ts";
import { withAddedGroups } from "../configured/added-groups.ts";
import { effectAt } from "../changes/change-effects.ts";
import { differences } from "../changes/config-change.ts";
import type { ConfigReloader } from "../changes/config-reloader.ts";
import type { SettingsHistory } from "../changes/settings-history.ts";
import { editConfig } from "../editing/edit-config.ts";
import { editGroup, requireSetting } from "../editing/edit-group.ts";
import { readEdit } from "../editing/read-edit.ts";
import { parsePath } from "../editing/setting-path.ts";
import { valueAt } from "../editing/value-after.ts";
import { settingInEffect } from "../explain/setting-in-effect.ts";
import { formatPath } from "../faults.ts";
import { checkConfigText, type ConfigCheck, invalidConfig } from "../loading/load.ts";
import type { Config } from "../schema/config.ts";
import type { RunningConfig } from "./running-config.ts";
import type { ServedGroups } from "./served-groups.ts";

interface SettingsServiceOptions {
  readonly groups: ServedGroups;
  readonly reloader: Pick<ConfigReloader, "edit" | "inTurn" | "state">;
  readonly history: SettingsHistory;
  readonly mounts: Pick<ContainerLauncher, "judgeWanted">;
  /** Ends containers that are not what their group gets now. */
  readonly reviewContainers: () => Promise<void>;
  readonly publish: Publish;
}

const byCommand: SettingAuthor = { actor: "operator", via: "command" };

/**
 * Shows settings and changes them while the host runs: in config.yaml, or in the store for groups that were added at
 * run time.
 */
export class SettingsService {
  readonly #running: RunningConfig;
  readonly #options: SettingsServiceOptions;

  constructor(running: RunningConfig, options: SettingsServiceOptions) {
    this.#running = running;
    this.#options = options;
  }

  /** Returns the value in effect; null where the setting is not set. */
  async get(path: string): Promise<SettingView> {
    const { live, adapters } = this.#running;
    const groups = this.#options.groups.registry.list();
    return { path, value: settingInEffect({ config: live.current, adapters }, groups, parsePath(path)) };
  }

  readonly readEdit = readEdit;

  /** Changes config.yaml: all edits or none. */
  edit(edits: readonly SettingEdit[]): Promise<ReloadReport> {
    return this.#editFile(edits, byCommand, () => Promise.resolve());
  }

  /** Returns every setting of a group with its value, and where the value comes from. */
  async showGroup(name: string): Promise<readonly GroupSettingView[]> {
    const { live, adapters } = this.#running;
    const { registry } = this.#options.groups;
    const group = registry.byName(name);
    if (!group) throw unknownGroup(name, this.#names());
    const values = settingInEffect({ config: live.current, adapters }, [group], ["groups", name]);
    const stored = registry.stored().find((each) => each.name === name);
    const said: Readonly<Record<string, unknown>> = stored ? stored.settings : (live.current.groups[name] ?? {});
    const own = stored ? "groups set" : "config.yaml";
    return Object.entries(values as Readonly<Record<string, unknown>>).map(([key, value]) => ({
      path: formatPath([key]),
      value: value ?? null,
      from: key === "channel" || key === "chat" ? "chat" : said[key] === undefined ? "default" : own,
    }));
  }

  /** Changes settings of one group; paths begin below the group. */
  async setGroup(name: string, edits: readonly SettingEdit[], by = byCommand): Promise<ReloadReport> {
    const { groups, reloader } = this.#options;
    if (groups.registry.byName(name)?.origin === "config") {
      for (const { path } of edits) requireSetting(name, path);
      const below = edits.map(({ path, value }) => ({ path: ["groups", name, ...path], value }));
      return this.#editFile(below, by, (config) => this.#requireMounts(name, config));
    }
    return reloader.inTurn(() => {
      // As it is now: somebody else may have changed it while this waited.
      const stored = groups.registry.stored().find((group) => group.name === name);
      if (stored) return this.#setStored(stored, edits, by);
      throw unknownGroup(name, this.#names());
    });
  }

  /** Changes config.yaml; `accept` sees the result before it is written. */
  #editFile(
    edits: readonly SettingEdit[],
    by: SettingAuthor,
    accept: (config: Config) => Promise<void>,
  ): Promise<ReloadReport> {
    const { home, adapters, environment } = this.#running;
    const { variables } = environment;
    const check = async (text: string): Promise<ConfigCheck> => {
      const checked = this.#options.groups.check(checkConfigText(text, variables, adapters));
      if (checked.ok) await accept(checked.loaded.config);
      return checked;
    };
    return this.#options.reloader.edit(by, () => editConfig(home.paths.config, edits, { variables, adapters, check }));
  }

  async #setStored(stored: StoredGroup, edits: readonly SettingEdit[], by: SettingAuthor): Promise<ReloadReport> {
    const { live, adapters, environment, redaction } = this.#running;
    const { groups, history, publish, reloader, reviewContainers } = this.#options;
    const { name } = stored;
    const settings = editGroup(stored, edits);
    const changes = changesOf(stored, settings);
    const { [name]: _, ...others } = live.current.groups;
    const config = { ...live.current, groups: others };
    const next = withAddedGroups({ config, adapters }, [{ ...stored, settings }], environment.variables);
    const faults = next.refused.get(name);
    if (faults) throw invalidConfig(`Nothing was changed, because the settings of ${name}`, faults);
    await this.#requireMounts(name, next.config);
    const paths = changes.map(({ path }) => path);
    if (changes.length > 0) {
      redaction.add(next.secrets);
      await publish({ type: "settings.changed", group: name, actor: by.actor, data: { paths } });
      await history.record({ config: next.config, by, changes, group: { name, settings } });
      groups.unusable.delete(name);
      await groups.registry.changed(name, settings, () => live.replace(next.config));
      await reviewContainers();
    }
    return { changed: paths, changes, config: reloader.state() };
  }

  /** Refuses a new mount that would be denied; one that was configured before does not matter. */
  async #requireMounts(name: string, config: Config): Promise<void> {
    const before = this.#running.live.current.groups[name]?.mounts ?? [];
    const mounts = config.groups[name]?.mounts ?? [];
    const isNew = mounts.map((mount) => before.every((other) => !isDeepStrictEqual(other, mount)));
    if (!isNew.includes(true)) return;
    const verdicts = await this.#options.mounts.judgeWanted({ name, mounts });
    const denied = verdicts.find(({ verdict }, index) => verdict === "denied" && isNew[index]);
    if (!denied) return;
    const { target, reason } = denied;
    throw new AppError("mount_denied", `Nothing was changed: mount ${target} of group ${name}: ${reason}`);
  }

  #names(): string[] {
    return this.#options.groups.registry.list().map(({ name }) => name);
  }
}

/** Returns the changes of a stored group's settings. Secrets are names of variables there, which may be shown. */
function changesOf({ name, settings: before }: StoredGroup, after: StoredGroup["settings"]): SettingChange[] {
  return differences(before, after, ["groups", name]).map((path) => {
    const at = parsePath(path);
    const [from, to] = [valueAt(before, at.slice(2)), valueAt(after, at.slice(2))];
    return { path, ...(from !== undefined && { from }), ...(to !== undefined && { to }), applies: effectAt(at) };
  });
}
