/**
 * Sources of words that a model has read: people of a role, a file, the web, an MCP server, a tool from outside,
 * another agent.
 */
export const origins = ["owner", "admin", "member", "guest", "file", "web", "mcp", "tool", "agent"] as const;

export type Origin = (typeof origins)[number];

/** Each one once, in the order of `origins`. */
export function sortOrigins(given: Iterable<Origin>): readonly Origin[] {
  const known = new Set(given);
  return origins.filter((origin) => known.has(origin));
}

/**
 * Origins that a step adds to its turn. Reading the group's folder takes over the folder's origins; writing leaves the
 * turn's origins there.
 */
export interface Exposure {
  readonly origins: readonly Origin[];
  readonly readsFolder: boolean;
  /** Groups that may have written to what this one reads besides its own folder. */
  readonly alsoReads?: readonly string[] | undefined;
  readonly writesFolder: boolean;
}

/** An origin that a group's folder carries, since when, and by which turn if one brought it there. */
export interface FolderOrigin {
  readonly origin: Origin;
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly turn: string | undefined;
}
