import type { EnvironmentVariables } from "../../../../config/environment.ts";
import type { HomePaths } from "../../../../config/home/home.ts";
import { AppError } from "../../../../lib/app-error.ts";
import { PluginInstaller, type PluginInstallerOptions } from "../../../../plugins/install/installer.ts";
import { pluginFolders } from "../../../../plugins/places.ts";
import { installSteps } from "../../../../abilities/skills/offline.ts";
import { pluginNameFault } from "../../../../config/loading/installed-plugins.ts";

/** Installs plugins into a home, by the same steps as skills: fetching, reading, looking through and writing. */
export function createPluginInstaller(
  paths: Pick<HomePaths, "plugins" | "pluginLock">,
  variables: EnvironmentVariables,
  logger: PluginInstallerOptions["logger"],
  start: PluginInstallerOptions["start"],
): PluginInstaller {
  const steps = installSteps(variables);
  return new PluginInstaller({
    places: pluginFolders(paths),
    now: Date.now,
    variables,
    logger,
    start,
    nameFault: (provided, plugin, { version, plugins }) => {
      const { [plugin]: _, ...others } = plugins;
      // Whoever is there has the name, whichever of the two comes first in the lock file.
      return pluginNameFault(provided, "\u{FFFF}", { version, plugins: others });
    },
    steps: {
      ...steps,
      readTree: async (folder, leaveOut) => {
        const reading = await steps.readTree(folder, { leaveOut });
        if (reading.ok) return reading.tree;
        throw new AppError("plugin_refused", `${folder} is refused: ${reading.path} ${reading.detail}.`);
      },
    },
  });
}
