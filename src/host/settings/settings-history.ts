import { differences } from "../../config/changes/config-change.ts";
import { parsePath } from "../../config/editing/setting-path.ts";
import { valueAt } from "../../config/editing/value-after.ts";
import { maskedConfig } from "../../config/explain/mask.ts";
import type { Config } from "../../config/schema/config.ts";
import type { StoredGroup } from "../../domain/chats/group.ts";
import type { SettingAuthor, SettingChange } from "../../domain/settings/setting.ts";
import type { AppContext } from "../context.ts";

/** Puts on record which settings change, before they do. */
export async function recordSettings(
  { store, clock, adapters }: Pick<AppContext, "store" | "clock" | "adapters">,
  applied: {
    /** All settings as they will hold. */
    readonly config: Config;
    readonly by: SettingAuthor;
    readonly changes: readonly Omit<SettingChange, "applies">[];
    readonly group?: Pick<StoredGroup, "name" | "settings">;
  },
): Promise<void> {
  const { config, by, changes, group } = applied;
  const settings = maskedConfig(config, adapters);
  await store.settings.record({ ...by, at: clock.now(), changes, settings, group });
}

/** Puts on record what has changed since the host last ran. That a secret is another one cannot be seen. */
export async function recordSettingsAtStart(context: Omit<AppContext, "metrics">): Promise<void> {
  const { store, live, adapters } = context;
  const before = await store.settings.applied();
  // As it comes back from the store.
  const now: unknown = JSON.parse(JSON.stringify(maskedConfig(live.current, adapters)));
  const paths = before === undefined ? [] : differences(before, now);
  if (before !== undefined && paths.length === 0) return;
  const changes = paths.map((path) => {
    const at = parsePath(path);
    return { path, from: valueAt(before, at), to: valueAt(now, at) };
  });
  await recordSettings(context, { config: live.current, by: { actor: "operator", via: "start" }, changes });
}
