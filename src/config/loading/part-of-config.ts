import { stringify } from "yaml";

import { builtInAdapters } from "../adapters.ts";
import type { EnvironmentVariables } from "../environment.ts";
import type { Config } from "../schema/config.ts";
import { parseYaml } from "./config-file.ts";
import { checkConfig, checkConfigText, invalidConfig, type LoadedConfig, readConfigText } from "./load.ts";

/**
 * Reads what a command needs of `config.yaml`. Where the file as a whole cannot be used by this program, as it names the channels of one
 * that embeds the host, these sections alone have to be valid; all others are as if they were not written. Throws `config_invalid`.
 */
export async function loadPartOfConfig(
  file: string,
  variables: EnvironmentVariables,
  sections: readonly (keyof Config)[],
): Promise<{ readonly loaded: LoadedConfig; readonly isWhole: boolean }> {
  const whole = await checkConfig(file, variables);
  if (whole.ok) return { loaded: whole.loaded, isWhole: true };
  const isAbout = (path: string): boolean =>
    path === "" || sections.some((name) => path === name || path.startsWith(`${name}.`));
  if (whole.faults.some(({ path }) => isAbout(path))) throw invalidConfig(file, whole.faults);
  const { value } = parseYaml((await readConfigText(file)) ?? "");
  const kept = Object.entries(value ?? {}).filter(([name]) => (sections as readonly string[]).includes(name));
  const part = checkConfigText(stringify(Object.fromEntries(kept)), variables, builtInAdapters);
  if (part.ok) return { loaded: { ...part.loaded, fromFile: true }, isWhole: false };
  throw invalidConfig(file, whole.faults);
}
