import * as z from "zod";

import { type PluginIsolation, pluginIsolations } from "../../domain/sandbox/contained-plugin.ts";
import { risks } from "../../domain/rights/policy.ts";
import type { Adapters, ConfigurablePlugin } from "../adapters.ts";

/** Risk of a plugin's tools, and limits of its process. */
interface PluginSettings {
  readonly memoryMb: number;
  readonly risk: Readonly<Record<string, (typeof risks)[number]>>;
  readonly settings: Readonly<Record<string, unknown>>;
}

interface PluginsSection {
  readonly isolation: PluginIsolation;
  readonly [plugin: string]: PluginSettings | PluginIsolation | undefined;
}

/**
 * `plugins`: where they run, and those that are installed and have tools. What their channels and providers want stands
 * with the others of that kind.
 */
export function pluginsOf({ plugins = [] }: Adapters): z.ZodType<PluginsSection> {
  const entries = plugins.map((plugin) => [plugin.name, pluginOf(plugin).optional()] as const);
  const isolation = z
    .enum(pluginIsolations)
    .default("container")
    .describe("container: behind walls. process: as the host's user; only for plugins that you write yourself.");
  return z.strictObject({ isolation, ...Object.fromEntries(entries) });
}

function pluginOf({ config, tools }: ConfigurablePlugin) {
  const risk = z.strictObject(Object.fromEntries(tools.map((tool) => [tool, z.enum(risks).optional()])));
  return z.strictObject({
    memoryMb: z.number().int().min(64).max(8_192).default(192).describe("What its process may hold."),
    risk: risk
      .default({})
      .describe("Of its tools, where you know better: without this each counts as medium at least."),
    settings: config.strict().prefault({}).describe("As the plugin wants them."),
  });
}
