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
 * Origins that a step adds to its turn. Reading folders takes over what they carry; writing leaves the turn's origins
 * in the folder of its group.
 */
export interface Exposure {
  readonly origins: readonly Origin[];
  /** Groups whose folders may have been read. */
  readonly folders: readonly string[];
  readonly writesFolder: boolean;
}

/** An origin that a group's folder carries, since when, and by which turn if one brought it there. */
export interface FolderOrigin {
  readonly origin: Origin;
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly turn: string | undefined;
}
