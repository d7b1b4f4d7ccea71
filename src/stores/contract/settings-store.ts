import type { StoredGroup } from "../../domain/chats/group.ts";
import type { SettingAuthor, SettingChange, SettingRecord } from "../../domain/settings/setting.ts";

/** Settings that take effect together. */
export interface AppliedSettings extends SettingAuthor {
  readonly at: number;
  readonly changes: readonly Omit<SettingChange, "applies">[];
  /** A group that was added at run time and says this itself from then on. */
  readonly group?: Pick<StoredGroup, "name" | "settings"> | undefined;
  /** All settings that hold from then on, as far as they may be shown. */
  readonly settings: unknown;
}

/** Which settings changed when, from what to what and by whom. Secrets never get here. */
export interface SettingsStore {
  /** Puts changes on record; the oldest ones beyond ten thousand are forgotten. */
  record(applied: AppliedSettings): Promise<void>;
  /** Newest first. `path`: of this setting and those below it. */
  history(filter: { readonly path?: string | undefined; readonly limit: number }): Promise<SettingRecord[]>;
  /** The last recorded settings; undefined when there are none. */
  applied(): Promise<unknown>;
}
