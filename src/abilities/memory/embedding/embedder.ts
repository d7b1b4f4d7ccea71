/** Turns texts into vectors by which those of a like meaning are found. */
export interface Embedder extends AsyncDisposable {
  /** Vectors of one model say nothing about those of another. */
  readonly model: string;
  readonly dimensions: number;
  /** Made for English: it says little about Chinese. */
  readonly isEnglish: boolean;
  /**
   * Returns a vector of length 1 for each text, in order. Rejects with an AppError; `passing` ones may work later. At
   * most `largestBatch` texts.
   */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<readonly Float32Array[]>;
}

export const largestBatch = 32;
