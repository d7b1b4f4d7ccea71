import { existsSync } from "node:fs";

import { type Adapters, builtInAdapters, withBuiltInAdapters } from "../adapters.ts";
import type { EnvironmentVariables } from "../environment.ts";
import type { HomePaths } from "../home/home.ts";
import type { Plugins, PluginsOptions } from "../../plugins/plugins.ts";

type NameFault = PluginsOptions["nameFault"];

/** Opens the home's plugins; undefined without any, and then loads no plugin code. */
export async function openInstalledPlugins(
  paths: Pick<HomePaths, "plugins" | "pluginLock">,
  variables: EnvironmentVariables,
): Promise<Plugins | undefined> {
  if (!existsSync(paths.pluginLock)) return undefined;
  const { Plugins: Installed } = await import("../../plugins/plugins.ts");
  const { pluginFolders } = await import("../../plugins/places.ts");
  return Installed.open({ places: pluginFolders(paths), variables, nameFault: pluginNameFault });
}

/** Adapters of crabpot, plugins and an embedding program. */
export function adaptersWith(plugins: Plugins | undefined, more: Partial<Adapters> = {}): Adapters {
  if (!plugins) return withBuiltInAdapters(more);
  return withBuiltInAdapters({
    channels: [...(more.channels ?? []), ...plugins.channels],
    providers: [...(more.providers ?? []), ...plugins.providers],
    tools: [...(more.tools ?? []), ...plugins.tools],
    plugins: plugins.plugins,
  });
}

/** Returns why a plugin's tool, channel or provider cannot have its name, as the end of a sentence. */
export const pluginNameFault: NameFault = ({ kind, name }, plugin, { plugins }) => {
  const { tools, channels, providers } = builtInAdapters;
  const names = {
    tool: tools.map((tool) => tool.name),
    channel: channels.map((channel) => channel.name),
    provider: providers.map((provider) => provider.kind),
  };
  if (names[kind].includes(name)) return `a ${kind} of crabpot has that name`;
  const other = Object.entries(plugins).find(
    ([each, { provides }]) => each < plugin && provides.some((one) => one.kind === kind && one.name === name),
  );
  return other && `a ${kind} of the plugin ${other[0]} has that name`;
};
