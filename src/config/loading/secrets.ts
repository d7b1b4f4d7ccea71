import type { Adapters } from "../adapters.ts";
import type { EnvironmentVariables } from "../environment.ts";
import type { ConfigFault } from "../faults.ts";
import { formatPath } from "../faults.ts";
import type { Config } from "../schema/config.ts";

/** A secret value of the configuration. */
export interface ConfiguredSecret {
  /** Path of the setting: `gateway.token`. */
  readonly path: string;
  readonly value: string;
  /** `server`: of a container of an MCP server; `mcp`: sent to one at an address. */
  readonly use: "gateway" | "hook" | "group" | "server" | "mcp" | "provider" | "channel" | "plugin" | "search";
  /** Group whose requests use it; undefined when only the host does. */
  readonly group: string | undefined;
}

type Add = (use: ConfiguredSecret["use"], path: readonly string[], value: string, group?: string) => void;

/** All values that must not be seen in logs. */
export function secretsOf(config: Config, adapters: Adapters): ConfiguredSecret[] {
  const found: ConfiguredSecret[] = [];
  const add: Add = (use, path, value, group) => {
    if (value !== "") found.push({ path: formatPath(path), value, use, group });
  };
  add("gateway", ["gateway", "token"], config.gateway.token ?? "");
  for (const [name, { secret }] of Object.entries(config.hooks)) add("hook", ["hooks", name, "secret"], secret);
  for (const [group, { secrets }] of Object.entries(config.groups)) {
    for (const [name, { value }] of Object.entries(secrets))
      add("group", ["groups", group, "secrets", name], value, group);
  }
  for (const [server, settings] of Object.entries(config.mcp.servers)) {
    if (!("secrets" in settings)) continue;
    for (const [name, { value }] of Object.entries(settings.secrets))
      add("server", ["mcp", "servers", server, "secrets", name], value);
  }
  add("search", ["web", "search", "apiKey"], config.web.search?.apiKey ?? "");
  addMcp(config, add);
  addAdapters(config, adapters, add);
  return found;
}

/** Headers of MCP servers may be credentials, alone or after a word such as Bearer; short ones are none. */
function addMcp({ mcp: { servers } }: Config, add: Add): void {
  for (const [server, settings] of Object.entries(servers)) {
    if (!("url" in settings)) continue;
    for (const [header, value] of Object.entries(settings.headers)) {
      const path = ["mcp", "servers", server, "headers", header];
      if (value.length < 8) continue;
      add("mcp", path, value);
      const [, token] = /^[A-Za-z]+ (\S{8,})$/.exec(value) ?? [];
      if (token !== undefined) add("mcp", path, token);
    }
  }
}

function addAdapters({ models, channels, plugins }: Config, adapters: Adapters, add: Add): void {
  for (const [name, settings] of Object.entries(models.providers)) {
    const definition = adapters.providers.find(({ kind }) => kind === settings.kind);
    const secrets = Object.entries(definition?.secrets?.(settings) ?? {});
    for (const [setting, value] of secrets) add("provider", ["models", "providers", name, setting], value);
  }
  for (const [name, settings] of Object.entries(channels)) {
    const definition = adapters.channels.find((channel) => channel.name === name);
    const secrets = Object.entries(definition?.secrets?.(settings) ?? {});
    for (const [setting, value] of secrets) add("channel", ["channels", name, setting], value);
  }
  for (const [name, plugin] of Object.entries(plugins)) addPlugin(name, plugin, adapters, add);
}

function addPlugin(name: string, said: Config["plugins"][string], { plugins = [] }: Adapters, add: Add): void {
  if (typeof said !== "object") return;
  const { settings } = said;
  const secrets = plugins.find((plugin) => plugin.name === name)?.secrets(settings) ?? {};
  for (const [setting, value] of Object.entries(secrets)) add("plugin", ["plugins", name, "settings", setting], value);
}

/** The setting whose text the secret is: those that are injected have other settings beside their value. */
export function settingOf({ path, use }: Pick<ConfiguredSecret, "path" | "use">): string {
  return use === "group" || use === "server" ? `${path}.value` : path;
}

/**
 * Secrets that are written as a shell writes variables, `$API_KEY`: the text itself would be sent. `fromVariable` as
 * `substitute` tells it.
 */
export function unreplacedSecrets(
  secrets: readonly ConfiguredSecret[],
  { variables, fromVariable }: { readonly variables: EnvironmentVariables; readonly fromVariable: ReadonlySet<string> },
): ConfigFault[] {
  return secrets.flatMap(({ path: owner, value, use }) => {
    const path = settingOf({ path: owner, use });
    const name = /^\$([A-Za-z_]\w*)$/.exec(value)?.[1];
    if (name === undefined || fromVariable.has(path)) return [];
    // A password may begin with $, too; it hardly looks like a constant's name, or like a variable that there is.
    if (!/^[A-Z][A-Z0-9_]*$/.test(name) && !variables[name]) return [];
    return [{ path, detail: `is the text $${name}, not the variable; write "\${${name}}"` }];
  });
}
