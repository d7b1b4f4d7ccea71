import { builtInAdapters } from "../../src/config/adapters.ts";
import { resolveGroup } from "../../src/config/resolve-group.ts";
import { type ConfigInput, configSchema } from "../../src/config/schema/config.ts";
import type { ResolvedGroup } from "../../src/domain/settings/resolved-group.ts";

/** Returns a group as this configuration, with defaults for the rest, resolves it. */
export function resolvedGroup(name = "family", config: ConfigInput = {}): ResolvedGroup {
  return resolveGroup(configSchema(builtInAdapters).parse(config), { name });
}
