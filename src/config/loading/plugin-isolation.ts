import { type PluginIsolation, pluginIsolations } from "../../domain/sandbox/contained-plugin.ts";
import { parseYaml } from "./config-file.ts";
import { readConfigText } from "./load.ts";

/**
 * Returns where plugins of this configuration run, whatever else is wrong in it: it may already name the channel of one
 * that is about to be added. Without a clear word, in containers.
 */
export async function readPluginIsolation(file: string): Promise<PluginIsolation> {
  const { value } = parseYaml((await readConfigText(file)) ?? "");
  const { plugins } = (value ?? {}) as { readonly plugins?: { readonly isolation?: unknown } | null };
  return pluginIsolations.find((each) => each === plugins?.isolation) ?? "container";
}
