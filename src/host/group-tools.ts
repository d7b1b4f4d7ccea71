import type { Group } from "../domain/chats/group.ts";
import { GroupTools, type ToolSource } from "../tools/group-tools.ts";
import { ToolRegistry } from "../tools/registry.ts";
import type { AppContext } from "./context.ts";

export interface GroupToolSet {
  /** Those that every group has, as far as it may. */
  readonly registry: ToolRegistry;
  /** With those of sources. */
  readonly registryOf: (group: Group) => Promise<ToolRegistry>;
  /** A turn of this group begins. */
  readonly warm: (group: Group) => void;
  /** Reason why a source's tool is missing now. */
  readonly whyMissing: (group: Group, name: string) => string | undefined;
}

/** The host's tools, and what `sources` have for some groups. */
export function createGroupToolSet(
  { adapters }: Pick<AppContext, "adapters">,
  sources: readonly ToolSource[],
): GroupToolSet {
  const registry = new ToolRegistry(adapters.tools);
  const groupTools = new GroupTools(registry, sources);
  return {
    registry,
    registryOf: (group) => groupTools.of(group),
    warm: (group) => groupTools.warm(group),
    whyMissing: (group, name) => groupTools.whyMissing(group, name),
  };
}
