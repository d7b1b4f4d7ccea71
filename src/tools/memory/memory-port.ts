/**
 * What a tool may want of what the turn's group remembers. Everything that is rejected is a ToolError, or a fault of
 * ours.
 */
export interface MemoryPort {
  /**
   * Memories that fit best, as the model is shown them; undefined: none. What the turn has read then counts as read.
   */
  readonly search: (query: string, how: MemoryQuery) => Promise<string | undefined>;
  /** Gives the id under which it is kept. */
  readonly store: (memory: {
    readonly text: string;
    readonly category: string;
    readonly about: string | undefined;
  }) => Promise<string>;
  /** Removes one for good. */
  readonly forget: (id: string) => Promise<void>;
}

export interface MemoryQuery {
  readonly limit: number;
  /** Milliseconds since 1970. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly who?: string | undefined;
}
