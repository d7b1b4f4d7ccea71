import { editConfig } from "../../config/editing/edit-config.ts";
import { parsePath } from "../../config/editing/setting-path.ts";
import type { ConfigReloader } from "../../config/changes/config-reloader.ts";
import { settingInEffect } from "../../config/explain/setting-in-effect.ts";
import { checkConfigText } from "../../config/loading/load.ts";
import type { ReloadReport } from "../../domain/settings/config-state.ts";
import type { SettingAuthor, SettingEdit } from "../../domain/settings/setting.ts";
import type { SettingNeeds } from "../../operations/settings/operations.ts";
import type { Containers } from "../containers/containers.ts";
import type { AppContext } from "../context.ts";
import { type GroupSettingOptions, setGroup, showGroup } from "./group-settings.ts";
import { addGroups, openReloader, type ReloadOptions, reviewContainers } from "./reload.ts";
import type { Groups } from "../groups.ts";

interface SettingsOptions extends Pick<Groups, "groups" | "unusable"> {
  readonly reloader: Pick<ConfigReloader, "edit" | "inTurn" | "state">;
  readonly containers: Pick<Containers, "pool" | "launcher" | "images">;
}

/** Settings, read and changed while the host runs, by whoever may. */
export interface Settings {
  readonly operations: SettingNeeds["settings"];
  /** The same as the operation, by somebody else than the operator at the command line. */
  setGroup(name: string, edits: readonly SettingEdit[], by: SettingAuthor): Promise<ReloadReport>;
}

const byCommand: SettingAuthor = { actor: "operator", via: "command" };

/** Lets settings change while the host runs: by their files, by commands, in chats. */
export function openSettings(
  context: AppContext,
  stack: AsyncDisposableStack,
  host: Pick<ReloadOptions, "loaded" | "console">,
  more: Omit<ReloadOptions, "loaded" | "console"> & Pick<SettingsOptions, "containers">,
): { readonly reloader: ConfigReloader; readonly settings: Settings } {
  const reloader = openReloader(context, stack, { ...more, loaded: host.loaded, console: host.console });
  return { reloader, settings: createSettings(context, { ...more, reloader }) };
}

function createSettings(context: AppContext, options: SettingsOptions): Settings {
  const { live, adapters } = context;
  const editFile = createEditFile(context, options);
  const shared: GroupSettingOptions = {
    ...options,
    launcher: options.containers.launcher,
    reviewContainers: () => reviewContainers(context, options),
    editFile,
  };
  return {
    operations: {
      get: async (path) => ({
        path,
        value: settingInEffect({ config: live.current, adapters }, options.groups.list(), parsePath(path)),
      }),
      edit: (edits) => editFile(edits, byCommand, () => Promise.resolve()),
      showGroup: async (name) => showGroup(context, shared, name),
      setGroup: (name, edits) => setGroup(context, shared, { name, edits, by: byCommand }),
    },
    setGroup: (name, edits, by) => setGroup(context, shared, { name, edits, by }),
  };
}

function createEditFile(context: AppContext, options: SettingsOptions): GroupSettingOptions["editFile"] {
  const { home, adapters, environment } = context;
  const { variables } = environment;
  return (edits, by, accept) =>
    options.reloader.edit(by, () =>
      editConfig(home.paths.config, edits, {
        variables,
        adapters,
        check: async (text) => {
          const check = addGroups(context, options, checkConfigText(text, variables, adapters));
          if (check.ok) await accept(check.loaded.config);
          return check;
        },
      }),
    );
}
