import { sortOrigins } from "../domain/people/origin.ts";
import type { Exposure, Origin } from "../domain/people/origin.ts";
import type { ToolCall } from "../domain/turns/model.ts";
import { builtInTools } from "./catalog.ts";
import type { Tool } from "./catalog.ts";
import { findingTools } from "./finding/finding-tools.ts";
import type { ToolRegistry } from "./registry.ts";

const builtIn: ReadonlySet<Tool> = new Set<Tool>([...builtInTools, ...findingTools]);

/**
 * Exposure caused by calls. A tool in the container may read the whole group folder and shared folders, whatever its
 * input; one that changes anything may write there, and so may anything that runs in the container with a given file.
 * Results of a tool from outside count as the tool's own words. `folders`: groups that may have written to what the
 * container sees.
 */
export function exposureOf(
  { registry, folders }: { readonly registry: Pick<ToolRegistry, "get">; readonly folders: readonly string[] },
  calls: readonly Pick<ToolCall, "name">[],
): Exposure | undefined {
  const tools = calls.flatMap(({ name }) => registry.get(name) ?? []);
  const origins = sortOrigins(tools.flatMap((tool) => originOf(tool) ?? []));
  const inContainer = tools.filter((tool) => tool.runs === "container");
  if (origins.length === 0 && inContainer.length === 0) return undefined;
  const givesFiles = tools.some((tool) => tool.runs === "host" && tool.givesFiles === true);
  const writesFolder = givesFiles || inContainer.some(({ readsOnly }) => !readsOnly);
  return { origins, folders: inContainer.length > 0 ? folders : [], writesFolder };
}

function originOf(tool: Tool): Origin | undefined {
  const own = "origin" in tool ? tool.origin : undefined;
  const isOwn = builtIn.has(tool) || ("ability" in tool && tool.ability !== undefined);
  return own ?? (isOwn ? undefined : "tool");
}
