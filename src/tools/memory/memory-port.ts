/** The group's memory for tools. Rejects with ToolError only, or a bug. */
export interface MemoryPort {
  /** Best matching memories as shown to the model; undefined: none. They count as read by the turn. */
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
  /** Lower bound of the time, in milliseconds since 1970. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly who?: string | undefined;
}
