import type { StoredGroup } from "../../domain/chats/group.ts";
import type { SettingAuthor, SettingChange } from "../../domain/settings/setting.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { SettingsStore } from "../../stores/contract/settings-store.ts";
import type { Adapters } from "../adapters.ts";
import { parsePath } from "../editing/setting-path.ts";
import { valueAt } from "../editing/value-after.ts";
import { maskedConfig } from "../explain/mask.ts";
import type { Config } from "../schema/config.ts";
import { differences } from "./config-change.ts";

/** Puts on record which settings change, secrets masked. */
export class SettingsHistory {
  readonly #store: SettingsStore;
  readonly #clock: Pick<Clock, "now">;
  readonly #adapters: Adapters;

  constructor(store: SettingsStore, clock: Pick<Clock, "now">, adapters: Adapters) {
    this.#store = store;
    this.#clock = clock;
    this.#adapters = adapters;
  }

  /** Records a change before it takes effect. */
  async record(applied: {
    /** All settings as they will hold. */
    readonly config: Config;
    readonly by: SettingAuthor;
    readonly changes: readonly Omit<SettingChange, "applies">[];
    readonly group?: Pick<StoredGroup, "name" | "settings">;
  }): Promise<void> {
    const { config, by, changes, group } = applied;
    const settings = maskedConfig(config, this.#adapters);
    await this.#store.record({ ...by, at: this.#clock.now(), changes, settings, group });
  }

  /** Records what has changed since the host last ran. A secret that was replaced cannot be seen. */
  async recordStart(config: Config): Promise<void> {
    const before = await this.#store.applied();
    // As it comes back from the store.
    const now: unknown = JSON.parse(JSON.stringify(maskedConfig(config, this.#adapters)));
    const paths = before === undefined ? [] : differences(before, now);
    if (before !== undefined && paths.length === 0) return;
    const changes = paths.map((path) => {
      const at = parsePath(path);
      return { path, from: valueAt(before, at), to: valueAt(now, at) };
    });
    await this.record({ config, by: { actor: "operator", via: "start" }, changes });
  }
}
