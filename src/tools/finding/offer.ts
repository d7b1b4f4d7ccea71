import type { OfferedTool } from "../../domain/turns/model.ts";
import type { Audience, ToolRegistry } from "../registry.ts";
import { callTool, findTools } from "./finding-tools.ts";

/** Tools that a model is shown; of more, the rest is found. */
const mostShown = 40;
/** Minimum number of shown tools from sources. */
const leastOfSources = 8;
/** Descriptions and schemas of tools of sources, in all: they stand in every prompt. */
const shownChars = 120_000;

/** Tools offered to a new conversation, sorted by name. */
export function offerNow(registry: ToolRegistry, audience: Audience): readonly OfferedTool[] {
  const all = registry.offer(audience);
  if (registry.added.size === 0) return all;
  return extended([], all, registry);
}

/**
 * Tools already offered, followed by new ones from sources while there is room, so that the beginning stays unchanged.
 * Without room, the tools for finding others.
 */
export function extended(
  before: readonly OfferedTool[],
  now: readonly OfferedTool[],
  registry: Pick<ToolRegistry, "added">,
): readonly OfferedTool[] {
  const isAdded = ({ name }: OfferedTool): boolean => registry.added.has(name);
  const known = new Set(before.map(({ name }) => name));
  const own = now.filter((tool) => !isAdded(tool) && !isFinding(tool));
  const fresh = now.filter((tool) => isAdded(tool) && !known.has(tool.name));
  const shown = before.filter(isAdded);
  const base = before.length === 0 ? own.length : before.filter((tool) => !isAdded(tool) && !isFinding(tool)).length;
  const isAll = base + shown.length + fresh.length <= mostShown;
  const places = isAll ? fresh.length : Math.max(mostShown - 2 - base, leastOfSources) - shown.length;
  const room = fitting(fresh.slice(0, Math.max(0, places)), shownChars - charsOf(shown));
  const needsFinding = room.length < fresh.length && !known.has(findTools.name);
  const finding = needsFinding ? now.filter(isFinding) : [];
  if (before.length > 0) return [...before, ...room, ...finding];
  return [...own, ...room, ...finding].toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

function isFinding({ name }: OfferedTool): boolean {
  return name === findTools.name || name === callTool.name;
}

function fitting(tools: readonly OfferedTool[], chars: number): readonly OfferedTool[] {
  let left = chars;
  return tools.filter((tool) => {
    const size = charsOf([tool]);
    if (size > left) return false;
    left -= size;
    return true;
  });
}

function charsOf(tools: readonly OfferedTool[]): number {
  return tools.reduce(
    (sum, { description, inputSchema }) => sum + description.length + JSON.stringify(inputSchema).length,
    0,
  );
}
