/** A piece of a result of an earlier call. */
export interface ResultPiece {
  readonly text: string;
  /** Length of the whole result. */
  readonly chars: number;
}

/** What a tool may want of results of the conversation that the model is not shown any more. */
export interface ResultPort {
  /** Throws ToolError for an id that no result of the turn's own conversation has. */
  readonly read: (id: string, from: number, chars: number) => Promise<ResultPiece>;
}
