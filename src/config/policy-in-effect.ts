import type { Config } from "./schema/config.ts";
import type { GroupPolicySettings, PolicySettings } from "./schema/policy.ts";

/** The preset where nothing is configured: agents may use every tool, in their container. */
export const presetByDefault = "open";

/** Effective policy, in order: the group's settings joined with the general ones. */
export function policyInEffect({ policy: shared }: Pick<Config, "policy">, own?: GroupPolicySettings): PolicySettings {
  const rules = [...(own?.rules ?? []), ...shared.rules];
  const tools = { ...shared.tools, ...own?.tools };
  return { ...(fallbackOf(own) ?? fallbackOf(shared) ?? { preset: presetByDefault }), rules, tools };
}

function fallbackOf(given: Pick<GroupPolicySettings, "default" | "preset"> | undefined) {
  if (given?.default !== undefined) return { default: given.default };
  return given?.preset === undefined ? undefined : { preset: given.preset };
}
