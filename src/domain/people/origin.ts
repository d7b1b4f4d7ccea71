/**
 * Where words come from that a model has read: what people of a role wrote, a file that came with a message, the web,
 * an MCP server, a tool from outside, another agent.
 */
export const origins = ["owner", "admin", "member", "guest", "file", "web", "mcp", "tool", "agent"] as const;

export type Origin = (typeof origins)[number];

/** Each one once, in the order of `origins`. */
export function sortOrigins(given: Iterable<Origin>): readonly Origin[] {
  const known = new Set(given);
  return origins.filter((origin) => known.has(origin));
}

/**
 * What a step brings its turn into contact with. What the turn has read, it may write: reading the group's folder takes
 * over the origins that the folder carries, and writing to it leaves all origins of the turn there.
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
