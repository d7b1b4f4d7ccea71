import { lstat } from "node:fs/promises";
import { basename } from "node:path";

import { AppError } from "../../lib/app-error.ts";
import { type Adapters, channelsOfEveryHome, providersOfEveryHome } from "../adapters.ts";
import { unprotectedMounts } from "../checks/mount-checks.ts";
import { checkBudgets } from "../checks/budget-checks.ts";
import { checkToolCalls } from "../checks/tool-checks.ts";
import { parseYaml, readTrustedFile } from "./config-file.ts";
import { crossCheck, hooksOfOtherGroups, providerOf } from "../checks/cross-checks.ts";
import { configFromEnvironment } from "./defaults.ts";
import type { EnvironmentVariables } from "../environment.ts";
import type { ConfigFault } from "../faults.ts";
import { describeIssues, formatPath } from "../faults.ts";
import { configJsonSchema } from "../schema/json-schema.ts";
import type { Config } from "../schema/config.ts";
import { configSchema } from "../schema/config.ts";
import { secretsOf, unreplacedSecrets } from "./secrets.ts";
import { substitute } from "./substitute.ts";
import { referencesOf } from "../../models/routes/routes.ts";
import { ownCommand } from "../../lib/process/own-command.ts";

/** A configuration that passed every check; deeply frozen. */
export interface LoadedConfig {
  readonly config: Config;
  /** Adapters used for reading. */
  readonly adapters: Adapters;
  /** Notices for the operator at start: the answering model and the reason. */
  readonly announcements: readonly string[];
  /** Valid settings that are probably unintended. */
  readonly warnings: readonly ConfigFault[];
  /** Values that must never appear in a log. */
  readonly secrets: readonly string[];
  /** Groups added at run time; absent for config.yaml alone. */
  readonly added?: ReadonlySet<string> | undefined;
  /** True when the file exists; false for the defaults. */
  readonly fromFile: boolean;
}

export type ConfigCheck =
  | { readonly ok: true; readonly loaded: LoadedConfig }
  | { readonly ok: false; readonly faults: readonly ConfigFault[] };

/**
 * Reads `config.yaml`; without a file, the defaults with the vendor whose key is in the environment. Throws
 * `config_invalid`.
 */
export async function loadConfig(
  file: string,
  variables: EnvironmentVariables,
  adapters: Adapters,
): Promise<LoadedConfig> {
  const check = await checkConfig(file, variables, adapters);
  if (check.ok) return check.loaded;
  const fix = `Edit ${file}, then try \`${ownCommand("config check")}\`.`;
  throw invalidConfig(file, check.faults, fix);
}

/**
 * Makes an error from faults. `what` begins the sentence that ends with "cannot be used"; `otherwise` is the advice
 * when no fault has any.
 */
export function invalidConfig(what: string, faults: readonly ConfigFault[], otherwise?: string): AppError {
  const fix = faults.find((fault) => fault.fix !== undefined)?.fix ?? otherwise;
  const lines = faults.map(describeFault);
  const text = lines.length === 1 ? ` ${lines.join("")}` : `\n${lines.map((line) => `  ${line}`).join("\n")}`;
  return new AppError("config_invalid", `${what} cannot be used:${text}`, fix === undefined ? {} : { fix });
}

/** The same, with every fault that was found, a file that cannot be read or trusted included. */
export async function checkConfig(
  file: string,
  variables: EnvironmentVariables,
  adapters: Adapters,
): Promise<ConfigCheck> {
  try {
    return checkConfigText(await readConfigText(file), variables, adapters);
  } catch (error) {
    return unreadable(error);
  }
}

/**
 * The same for a host that runs. A file that is gone or empty is a fault there: an editor is in the middle of its work,
 * or it was lost.
 */
export async function checkChangedConfig(
  file: string,
  variables: EnvironmentVariables,
  { adapters, fromFile }: Pick<LoadedConfig, "adapters" | "fromFile">,
): Promise<ConfigCheck> {
  try {
    const text = await readConfigText(file);
    if (text === undefined ? fromFile : text.trim() === "") {
      const detail = text === undefined ? "It is gone." : "It is empty.";
      const fix = "Write it again; {} alone means the default of every setting.";
      return { ok: false, faults: [{ path: "", detail, fix }] };
    }
    return checkConfigText(text, variables, adapters);
  } catch (error) {
    return unreadable(error);
  }
}

/** Reads `config.yaml`, and refuses a misnamed `config.yml`. */
export async function readConfigText(file: string): Promise<string | undefined> {
  const text = await readTrustedFile(file);
  const other = file.replace(/\.yaml$/, ".yml");
  if (other === file || (await lstat(other).catch(() => undefined)) === undefined) return text;
  const fix =
    text === undefined ? `mv ${other} ${file}` : `Move what you need from it to ${file}, then remove it: rm ${other}`;
  const also = text === undefined ? "" : ", too";
  throw new AppError("config_invalid", `There is a ${basename(other)}${also}; only ${basename(file)} is read.`, {
    fix,
  });
}

function unreadable(error: unknown): ConfigCheck {
  if (!(error instanceof AppError)) throw error;
  return { ok: false, faults: [{ path: "", detail: error.message, fix: error.fix }] };
}

/** Checks a text that is not saved yet; undefined: no file. */
export function checkConfigText(
  text: string | undefined,
  variables: EnvironmentVariables,
  adapters: Adapters,
): ConfigCheck {
  const parsed =
    text === undefined ? configFromEnvironment(variables, adapters) : { ...parseYaml(text), announcements: [] };
  if (parsed.faults.length > 0) return { ok: false, faults: parsed.faults };
  const { value, faults, fromVariable } = substitute(parsed.value, variables);
  if (faults.length > 0) return { ok: false, faults };
  const schema = configSchema(adapters);
  const result = parseWithVariables(schema, value, fromVariable);
  if (!result.success) {
    const { issues } = result.error;
    return { ok: false, faults: describeIssues(issues, parsed.value, () => configJsonSchema(adapters)) };
  }
  const config = withDefaults(result.data, adapters);
  const secrets = secretsOf(config, adapters);
  const crossFaults = [...crossCheck(config, adapters), ...unreplacedSecrets(secrets, { variables, fromVariable })];
  if (crossFaults.length > 0) return { ok: false, faults: crossFaults };
  // Needs routes, providers and a time zone that there are.
  const budgets = checkBudgets(config, adapters);
  const modelFaults = [...checkToolCalls(config, adapters), ...budgets.faults];
  if (modelFaults.length > 0) return { ok: false, faults: modelFaults };
  return {
    ok: true,
    loaded: {
      config: deepFreeze(config),
      adapters,
      announcements: parsed.announcements,
      warnings: [
        ...unusedProviders(config, parsed.value, adapters),
        ...budgets.warnings,
        ...hooksOfOtherGroups(config),
        ...unprotectedMounts(config),
      ],
      secrets: secrets.map(({ value: secret }) => secret),
      fromFile: text !== undefined,
    },
  };
}

/** `models.default: there is no route …`, on one line. */
export function describeFault(fault: ConfigFault): string {
  return fault.path === "" ? fault.detail : `${fault.path}: ${fault.detail}`;
}

/** `warning: models.providers.gpt: no route uses it …`, on one line. */
export function describeWarning(warning: ConfigFault): string {
  return [`warning: ${describeFault(warning)}`, warning.fix].filter(Boolean).join(". ");
}

/** Without it zod writes and compiles a function for each object, which pays where values are checked many times. */
const onceOnly = { jitless: true };

/** Parses values with variables: a variable's text is converted where a number or boolean is expected. */
export function parseWithVariables(
  schema: ReturnType<typeof configSchema>,
  value: unknown,
  fromVariable: ReadonlySet<string>,
): ReturnType<typeof schema.safeParse> {
  const first = schema.safeParse(value, onceOnly);
  if (first.success) return first;
  let changed = false;
  for (const issue of first.error.issues) {
    if (issue.code !== "invalid_type" || !fromVariable.has(formatPath(issue.path))) continue;
    changed = convert(value, issue.path, issue.expected) || changed;
  }
  return changed ? schema.safeParse(value, onceOnly) : first;
}

function convert(root: unknown, path: readonly PropertyKey[], expected: string): boolean {
  const parent = path.slice(0, -1).reduce<unknown>((at, part) => (at as Record<PropertyKey, unknown>)[part], root);
  const holder = parent as Record<PropertyKey, unknown>;
  const key = path.at(-1) ?? "";
  const text = String(holder[key]).trim();
  if (expected === "boolean" && (text === "true" || text === "false")) holder[key] = text === "true";
  else if (["number", "int"].includes(expected) && text !== "" && Number.isFinite(Number(text)))
    holder[key] = Number(text);
  else return false;
  return true;
}

/** Adds the adapters that every home has. */
function withDefaults(config: Config, adapters: Adapters): Config {
  const providers = providersOfEveryHome(adapters).map(({ kind, settings }) => [kind, settings] as const);
  return {
    ...config,
    models: { ...config.models, providers: { ...Object.fromEntries(providers), ...config.models.providers } },
    channels: { ...channelsOfEveryHome(adapters), ...config.channels },
  };
}

function unusedProviders(config: Config, written: unknown, adapters: Adapters): ConfigFault[] {
  const route = referencesOf(config.models.routes, config.models.default);
  const [builtIn] = providersOfEveryHome(adapters);
  const others = Object.keys(config.models.providers).filter((name) => name !== builtIn?.kind);
  const writtenModels = (written as { models?: { routes?: unknown } }).models;
  const onlyBuiltIn = route.every((reference) => providerOf(reference) === builtIn?.kind);
  if (!onlyBuiltIn || writtenModels?.routes) return [];
  const detail = `no route uses it; the built-in ${builtIn?.model} model answers`;
  return others.map((name) => ({
    path: formatPath(["models", "providers", name]),
    detail,
    fix: "Set models.routes.main.",
  }));
}

export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const item of Object.values(value)) deepFreeze(item);
  }
  return value;
}
