import { formatPath } from "./faults.ts";
import type { Config } from "./schema.ts";

/** A secret value of the configuration. */
export interface ConfiguredSecret {
  /** Where it stands: `gateway.token`. */
  readonly path: string;
  readonly value: string;
  /** Whose requests it is added to; undefined when it is the host's alone. */
  readonly group: string | undefined;
}

/** All values that must not be seen in logs. */
export function secretsOf({ models, gateway, groups }: Config): ConfiguredSecret[] {
  const found: ConfiguredSecret[] = [];
  const add = (path: readonly string[], value: string, group?: string): void => {
    if (value !== "") found.push({ path: formatPath(path), value, group });
  };
  add(["gateway", "token"], gateway.token ?? "");
  for (const [group, { secrets }] of Object.entries(groups)) {
    for (const [name, { value }] of Object.entries(secrets)) add(["groups", group, "secrets", name], value, group);
  }
  for (const [name, provider] of Object.entries(models.providers)) {
    if (provider.kind === "offline") continue;
    const path = ["models", "providers", name];
    add([...path, "apiKey"], provider.apiKey);
    if (provider.baseUrl !== undefined) add([...path, "baseUrl"], new URL(provider.baseUrl).password);
  }
  return found;
}
