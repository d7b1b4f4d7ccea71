import { stringify } from "yaml";

import type { Adapters } from "../adapters.ts";
import type { EnvironmentVariables } from "../environment.ts";
import type { Config } from "../schema/config.ts";
import { people } from "../schema/people.ts";
import { parseYaml } from "./config-file.ts";
import { checkConfig, checkConfigText, invalidConfig, type LoadedConfig, readConfigText } from "./load.ts";

/**
 * Reads what a command needs of `config.yaml`. Where the file as a whole cannot be used by this program, as it names
 * the channels of one that embeds the host, these sections and `people` alone have to be valid; all others are as if
 * they were not written. Throws `config_invalid`.
 */
export async function loadPartOfConfig(
  file: string,
  variables: EnvironmentVariables,
  sections: readonly (keyof Config)[],
  adapters: Adapters,
): Promise<LoadedConfig> {
  const whole = await checkConfig(file, variables, adapters);
  if (whole.ok) return whole.loaded;
  const isAbout = (path: string): boolean =>
    path === "" || sections.some((name) => path === name || path.startsWith(`${name}.`));
  if (whole.faults.some(({ path }) => isAbout(path))) throw invalidConfig(file, whole.faults);
  const { value } = parseYaml((await readConfigText(file)) ?? "");
  const written = Object.entries(value ?? {});
  const kept = written.filter(([name]) => (sections as readonly string[]).includes(name));
  const part = checkConfigText(stringify(Object.fromEntries(kept)), variables, adapters);
  // Their channels may be those that this program does not know.
  const known = people.safeParse(Object.fromEntries(written)["people"]);
  if (!part.ok || !known.success) throw invalidConfig(file, whole.faults);
  return { ...part.loaded, config: { ...part.loaded.config, people: known.data }, fromFile: true };
}
