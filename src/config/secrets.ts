import { formatPath } from "./faults.ts";
import type { Config } from "./schema.ts";

/** A secret value of the configuration. */
export interface ConfiguredSecret {
  /** Where it stands: `gateway.token`. */
  readonly path: string;
  readonly value: string;
  readonly use: "gateway" | "group" | "provider";
  /** Whose requests it is added to; undefined when it is the host's alone. */
  readonly group: string | undefined;
}

/** All values that must not be seen in logs. */
export function secretsOf({ models, gateway, groups }: Config): ConfiguredSecret[] {
  const found: ConfiguredSecret[] = [];
  const add = (use: ConfiguredSecret["use"], path: readonly string[], value: string, group?: string): void => {
    if (value !== "") found.push({ path: formatPath(path), value, use, group });
  };
  add("gateway", ["gateway", "token"], gateway.token ?? "");
  for (const [group, { secrets }] of Object.entries(groups)) {
    for (const [name, { value }] of Object.entries(secrets))
      add("group", ["groups", group, "secrets", name], value, group);
  }
  for (const [name, provider] of Object.entries(models.providers)) {
    if (provider.kind === "offline") continue;
    const path = ["models", "providers", name];
    add("provider", [...path, "apiKey"], provider.apiKey);
    if (provider.baseUrl !== undefined) add("provider", [...path, "baseUrl"], new URL(provider.baseUrl).password);
  }
  return found;
}
