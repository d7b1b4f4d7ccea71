import { stringify } from "yaml";

import type { SettingEdit, SettingPath } from "../../domain/settings/setting.ts";
import { AppError } from "../../lib/app-error.ts";
import type { Adapters } from "../adapters.ts";
import type { EnvironmentVariables } from "../environment.ts";
import { parseYaml } from "../loading/config-file.ts";
import { configFromEnvironment } from "../loading/defaults.ts";
import { type ConfigCheck, invalidConfig, type LoadedConfig, readConfigText } from "../loading/load.ts";
import { secretsOf, settingOf } from "../loading/secrets.ts";
import { configSchema } from "../schema/config.ts";
import { editYaml } from "./edit-yaml.ts";
import { replaceFile } from "./replace-file.ts";
import { parsePath } from "./setting-path.ts";
import { valueAt } from "./value-after.ts";

export interface EditConfigOptions {
  readonly variables: EnvironmentVariables;
  readonly adapters: Adapters;
  /** Judges the whole file as it would be. */
  readonly check: (text: string) => ConfigCheck | Promise<ConfigCheck>;
}

/**
 * Changes settings in `config.yaml` atomically, creating the file if missing. Returns the new configuration. Throws
 * AppErrors: `config_invalid` for an invalid result, `conflict` when the file was changed meanwhile, `not_found` when
 * there is nothing to remove, `bad_input` for an impossible path, or for a secret in clear text where there was a
 * variable.
 */
export async function editConfig(
  file: string,
  edits: readonly SettingEdit[],
  options: EditConfigOptions,
): Promise<LoadedConfig> {
  const before = await readConfigText(file);
  const base = before ?? textFromEnvironment(options);
  const after = edits.reduce((text, edit) => editYaml(withDefaults(text, edit.path, options), edit), base);
  const check = await options.check(after);
  if (!check.ok) throw invalidConfig(`${file} was not changed, because it`, check.faults);
  refuseClearSecrets({ before: base, after, loaded: check.loaded, variables: options.variables });
  if (after !== before) await replaceFile(file, { before, after });
  return check.loaded;
}

/** The environment counts for nothing where there is a file, so what was taken from it until now is written down. */
function textFromEnvironment({ variables, adapters }: EditConfigOptions): string {
  const { value } = configFromEnvironment(variables, adapters);
  return Object.keys(value).length === 0 ? "" : stringify(value, { lineWidth: 0 });
}

/** Defaults that an edit keeps: changing one group or route must not drop the others. */
const wholeDefaults: readonly SettingPath[] = [["groups"], ["models", "routes"]];

function withDefaults(text: string, path: SettingPath, { adapters }: EditConfigOptions): string {
  const section = wholeDefaults.find((at) => path.length > at.length && at.every((key, index) => key === path[index]));
  if (!section || valueAt(parseYaml(text).value, section) !== undefined) return text;
  return editYaml(text, { path: section, value: valueAt(written(configSchema(adapters).parse({})), section) });
}

/** Only what is not as it would be anyway. */
function written(config: ReturnType<ReturnType<typeof configSchema>["parse"]>): unknown {
  const groups = Object.entries(config.groups).map(([name, { channel, chat, trigger, main }]) => [
    name,
    { channel, chat, trigger, main },
  ]);
  return { ...config, groups: Object.fromEntries(groups) as unknown };
}

/** A value this short may be that of a variable by chance. */
const tellingChars = 8;

/**
 * A key that was kept out of the file must not get into it by the way: a shell replaces `$KEY` before anybody notices.
 */
function refuseClearSecrets(options: {
  readonly before: string;
  readonly after: string;
  readonly loaded: LoadedConfig;
  readonly variables: EnvironmentVariables;
}): void {
  const { loaded, variables } = options;
  const [before, after] = [parseYaml(options.before).value, parseYaml(options.after).value];
  for (const { path: owner, use } of secretsOf(loaded.config, loaded.adapters)) {
    const path = settingOf({ path: owner, use });
    const [was, is] = [valueAt(before, parsePath(path)), valueAt(after, parsePath(path))];
    if (is === was || typeof is !== "string" || variableIn(is) !== undefined) continue;
    const [name] = Object.entries(variables).find(([, value]) => value === is && is.length >= tellingChars) ?? [];
    const former = variableIn(was);
    if (name === undefined && former === undefined) continue;
    const why =
      name === undefined
        ? `comes from the environment variable ${former}`
        : `is the value of the environment variable ${name}`;
    throw new AppError("bad_input", `${path} ${why}, and is not written into the file in clear.`, {
      fix: `Write the variable's name: '\${${name ?? former}}'.`,
    });
  }
}

function variableIn(value: unknown): string | undefined {
  return typeof value === "string" ? /(?<!\$)\$\{([^}]*)\}/.exec(value)?.[1] : undefined;
}
