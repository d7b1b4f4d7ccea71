/**
 * The vectors of a group's newest memories in rows 0, 1, 2 …, and how like a query each of them is.
 * `test/contracts/vectors.ts` says what every strategy has to do.
 */
export interface Vectors {
  /** Number of rows with a vector. */
  readonly known: number;
  /** 1: the row has a vector. Valid until the next `set`. */
  readonly isKnown: Uint8Array;
  has(row: number): boolean;
  /**
   * Rows up to this one exist from now on; its vector is replaced, undefined leaves it as it is. Throws RangeError
   * where there is no room for it.
   */
  set(row: number, vector: Float32Array | undefined): void;
  /**
   * The product of every row with `query`, nearly, 0 for one without a vector: which rows are the best, and where the
   * others lie between the best and the worst. What asks a server answers with a promise. Where that knows the nearest
   * only, all others have the least of these.
   */
  products(query: Float32Array): Float32Array | Promise<Float32Array>;
  /** The product of one row with `query`, exactly, as far as the last `products` tells it apart from the others. */
  product(row: number, query: Float32Array): number;
}

/** A way to compare vectors. */
export interface VectorStrategy {
  readonly name: string;
  /** Bytes per number of a vector. */
  readonly bytesPerNumber: number;
  /** Opens storage for vectors of this length. Throws where this machine does not support it. */
  readonly open: (dimensions: number) => Vectors;
}
