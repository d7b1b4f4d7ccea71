/** A piece of a result of an earlier call. */
export interface ResultPiece {
  readonly text: string;
  /** Length of the whole result. */
  readonly chars: number;
}

/** Earlier results that the model no longer sees, for tools. */
export interface ResultPort {
  /** Throws ToolError for an id that no result of the turn's own conversation has. */
  readonly read: (id: string, from: number, chars: number) => Promise<ResultPiece>;
}
