import type { EnvironmentVariables } from "../../../../config/environment.ts";
import type { HomePaths } from "../../../../config/home/home.ts";
import { AppError } from "../../../../lib/app-error.ts";
import { PluginInstaller, type PluginInstallerOptions } from "../../../../plugins/install/installer.ts";
import { pluginFolders } from "../../../../plugins/places.ts";
import { fetchSource, runToFetch } from "../../../../abilities/skills/install/fetch-source.ts";
import { sourceOf } from "../../../../abilities/skills/install/source.ts";
import { scanSkill, wantsOf } from "../../../../abilities/skills/install/scan-skill.ts";
import { readTree } from "../../../../abilities/skills/tree/read-tree.ts";
import { writeTree } from "../../../../abilities/skills/tree/skill-copies.ts";
import { pluginNameFault } from "../../../../config/loading/installed-plugins.ts";

/** Installs plugins into a home, by the same steps as skills: fetching, reading, looking through and writing. */
export function createPluginInstaller(
  paths: Pick<HomePaths, "plugins" | "pluginLock">,
  variables: EnvironmentVariables,
  logger: PluginInstallerOptions["logger"],
): PluginInstaller {
  return new PluginInstaller({
    places: pluginFolders(paths),
    now: Date.now,
    variables,
    logger,
    nameFault: (provided, plugin, { version, plugins }) => {
      const { [plugin]: _, ...others } = plugins;
      // Whoever is there has the name, whichever of the two comes first in the lock file.
      return pluginNameFault(provided, "\u{FFFF}", { version, plugins: others });
    },
    steps: {
      fetch: async (wanted, scratch) => fetchSource(sourceOf(wanted), { scratch, variables }),
      readTree: async (folder, leaveOut) => {
        const reading = await readTree(folder, { leaveOut });
        if (reading.ok) return reading.tree;
        throw new AppError("plugin_refused", `${folder} is refused: ${reading.path} ${reading.detail}.`);
      },
      writeTree,
      scan: scanSkill,
      hostsIn: (tree) => wantsOf([], tree).hosts,
      npm: async (args, cwd) => void (await runToFetch("npm", args, { cwd, variables })),
    },
  });
}
