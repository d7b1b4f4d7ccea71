import { AppError } from "../lib/app-error.ts";
import { type Adapters, builtInAdapters, channelsOfEveryHome, providersOfEveryHome } from "./adapters.ts";
import { parseYaml, readTrustedFile } from "./config-file.ts";
import { crossCheck, providerOf } from "./cross-checks.ts";
import { configFromEnvironment } from "./defaults.ts";
import type { EnvironmentVariables } from "./environment.ts";
import type { ConfigFault } from "./faults.ts";
import { describeIssues, formatPath } from "./faults.ts";
import { configJsonSchema } from "./json-schema.ts";
import type { Config } from "./schema.ts";
import { configSchema } from "./schema.ts";
import { secretsOf } from "./secrets.ts";
import { substitute } from "./substitute.ts";
import { ownCommand } from "../lib/own-command.ts";

/** A configuration that passed every check; deeply frozen. */
export interface LoadedConfig {
  readonly config: Config;
  /** What it was read with. */
  readonly adapters: Adapters;
  /** What the operator should be told at start: which model answers and why, what was ignored. */
  readonly announcements: readonly string[];
  /** Values that must never appear in a log. */
  readonly secrets: readonly string[];
  /** Is there a file at all, or are these the defaults? */
  readonly fromFile: boolean;
}

export type ConfigCheck =
  | { readonly ok: true; readonly loaded: LoadedConfig }
  | { readonly ok: false; readonly faults: readonly ConfigFault[] };

/** Reads `config.yaml`; without a file, the defaults with the vendor whose key is in the environment. Throws `config_invalid`. */
export async function loadConfig(
  file: string,
  variables: EnvironmentVariables,
  adapters: Adapters = builtInAdapters,
): Promise<LoadedConfig> {
  const check = await checkConfig(file, variables, adapters);
  if (check.ok) return check.loaded;
  throw toError(file, check.faults);
}

function toError(file: string, faults: readonly ConfigFault[]): AppError {
  const fix =
    faults.find((fault) => fault.fix !== undefined)?.fix ?? `Edit ${file}, then try \`${ownCommand("config check")}\`.`;
  const lines = faults.map(describeFault);
  const text = lines.length === 1 ? ` ${lines.join("")}` : `\n${lines.map((line) => `  ${line}`).join("\n")}`;
  return new AppError("config_invalid", `${file} cannot be used:${text}`, { fix });
}

/** The same, with every fault that was found, a file that cannot be read or trusted included. */
export async function checkConfig(
  file: string,
  variables: EnvironmentVariables,
  adapters: Adapters = builtInAdapters,
): Promise<ConfigCheck> {
  try {
    return checkText(await readTrustedFile(file), variables, adapters);
  } catch (error) {
    return unreadable(error);
  }
}

/** The same for a host that runs. A file that is gone or empty is a fault there: an editor is in the middle of its work, or it was lost. */
export async function checkChangedConfig(
  file: string,
  variables: EnvironmentVariables,
  { adapters, fromFile }: Pick<LoadedConfig, "adapters" | "fromFile">,
): Promise<ConfigCheck> {
  try {
    const text = await readTrustedFile(file);
    if (text === undefined ? fromFile : text.trim() === "") {
      const detail = text === undefined ? "It is gone." : "It is empty.";
      const fix = "Write it again; {} alone means the default of every setting.";
      return { ok: false, faults: [{ path: "", detail, fix }] };
    }
    return checkText(text, variables, adapters);
  } catch (error) {
    return unreadable(error);
  }
}

function unreadable(error: unknown): ConfigCheck {
  if (!(error instanceof AppError)) throw error;
  return { ok: false, faults: [{ path: "", detail: error.message, fix: error.fix }] };
}

function checkText(text: string | undefined, variables: EnvironmentVariables, adapters: Adapters): ConfigCheck {
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
  const crossFaults = crossCheck(config, adapters);
  if (crossFaults.length > 0) return { ok: false, faults: crossFaults };
  const announcements = [...parsed.announcements, ...remarks(config, parsed.value, adapters)];
  const secrets = secretsOf(config, adapters).map((secret) => secret.value);
  return {
    ok: true,
    loaded: { config: deepFreeze(config), adapters, announcements, secrets, fromFile: text !== undefined },
  };
}

/** `models.default: there is no route …`, on one line. */
export function describeFault(fault: ConfigFault): string {
  return fault.path === "" ? fault.detail : `${fault.path}: ${fault.detail}`;
}

/** What comes from a variable is always text; where a number or a truth value is wanted, it is read as one. */
function parseWithVariables(
  schema: ReturnType<typeof configSchema>,
  value: unknown,
  fromVariable: ReadonlySet<string>,
): ReturnType<typeof schema.safeParse> {
  const first = schema.safeParse(value);
  if (first.success) return first;
  let changed = false;
  for (const issue of first.error.issues) {
    if (issue.code !== "invalid_type" || !fromVariable.has(formatPath(issue.path))) continue;
    changed = convert(value, issue.path, issue.expected) || changed;
  }
  return changed ? schema.safeParse(value) : first;
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

/** What every home has is there whatever else is configured. */
function withDefaults(config: Config, adapters: Adapters): Config {
  const providers = providersOfEveryHome(adapters).map(({ kind, settings }) => [kind, settings] as const);
  return {
    ...config,
    models: { ...config.models, providers: { ...Object.fromEntries(providers), ...config.models.providers } },
    channels: { ...channelsOfEveryHome(adapters), ...config.channels },
  };
}

function remarks(config: Config, written: unknown, adapters: Adapters): string[] {
  const said: string[] = [];
  const route = config.models.routes[config.models.default] ?? [];
  const [builtIn] = providersOfEveryHome(adapters);
  const others = Object.keys(config.models.providers).filter((name) => name !== builtIn?.kind);
  const writtenModels = (written as { models?: { routes?: unknown } }).models;
  const onlyBuiltIn = route.every((reference) => providerOf(reference) === builtIn?.kind);
  if (onlyBuiltIn && others.length > 0 && !writtenModels?.routes) {
    said.push(
      `The provider ${others.join(", ")} is configured, but no route uses it: the built-in ${builtIn?.model} model answers. Set models.routes.main.`,
    );
  }
  if (!isTimezone(config.timezone))
    said.push(`The time zone "${config.timezone}" is not known; times are told in UTC.`);
  return said;
}

function isTimezone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const item of Object.values(value)) deepFreeze(item);
  }
  return value;
}
