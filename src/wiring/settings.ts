import type { ConfigReloader } from "../config/changes/config-reloader.ts";
import { editConfig } from "../config/editing/edit-config.ts";
import { parsePath } from "../config/editing/setting-path.ts";
import { settingInEffect } from "../config/explain/setting-in-effect.ts";
import { checkConfigText } from "../config/loading/load.ts";
import type { SettingAuthor } from "../domain/setting.ts";
import type { GroupRegistry } from "../intake/chats/group-registry.ts";
import type { Operations } from "../operations/operations.ts";
import type { AppContext } from "./context.ts";

/** What the operator does with settings while the host runs. */
export function createSettings(
  context: AppContext,
  options: { readonly groups: Pick<GroupRegistry, "list">; readonly reloader: Pick<ConfigReloader, "edit"> },
): Pick<Operations, "getSetting" | "editConfig"> {
  const { home, live, adapters, environment } = context;
  const { variables } = environment;
  const byCommand: SettingAuthor = { actor: "operator", via: "command" };
  return {
    getSetting: async (path) => ({
      path,
      value: settingInEffect({ config: live.current, adapters }, options.groups.list(), parsePath(path)),
    }),
    editConfig: (edits) =>
      options.reloader.edit(byCommand, () =>
        editConfig(home.paths.config, edits, {
          variables,
          adapters,
          check: (text) => checkConfigText(text, variables, adapters),
        }),
      ),
  };
}
