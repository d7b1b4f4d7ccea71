import { dotProductsIn, laneNumbers, wasmMemory } from "./dot-products.ts";

const pageBytes = 65_536;
const numberBytes = 4;

/** Unit vectors of one model, one behind the other; a row without a vector is all zeros. */
export class PackedVectors {
  readonly #memory = wasmMemory();
  readonly #dots = dotProductsIn(this.#memory);
  readonly #dimensions: number;
  readonly #stride: number;
  #rows = 0;
  #known = new Uint8Array(64);
  #knownCount = 0;
  #numbers = new Float32Array(this.#memory.buffer);

  constructor(dimensions: number) {
    this.#dimensions = dimensions;
    this.#stride = Math.ceil(dimensions / laneNumbers) * laneNumbers;
  }

  get dimensions(): number {
    return this.#dimensions;
  }

  /** How many rows have a vector. */
  get known(): number {
    return this.#knownCount;
  }

  get bytes(): number {
    return this.#memory.buffer.byteLength;
  }

  has(row: number): boolean {
    return this.#known[row] === 1;
  }

  /** Rows up to this one exist from now on. Throws RangeError when there is no memory for them. */
  set(row: number, vector: Float32Array | undefined): void {
    this.#grow(row + 1);
    if (vector === undefined) return;
    this.#numbers.set(vector.subarray(0, this.#dimensions), row * this.#stride);
    if (this.#known[row] === 0) this.#knownCount += 1;
    this.#known[row] = 1;
  }

  /** The product of every row with `query`, which is valid until the next call. */
  products(query: Float32Array): Float32Array {
    const rows = this.#rows;
    if (rows === 0) return new Float32Array(0);
    this.#reserve(rows);
    const queryAt = rows * this.#stride;
    const outAt = queryAt + this.#stride;
    this.#numbers.fill(0, queryAt, outAt);
    this.#numbers.set(query.subarray(0, this.#dimensions), queryAt);
    this.#dots(0, queryAt * numberBytes, outAt * numberBytes, rows, this.#stride * numberBytes);
    const products = this.#numbers.slice(outAt, outAt + rows);
    // The query lay where the next row will, and rows begin as zeros.
    this.#numbers.fill(0, queryAt, outAt + rows);
    return products;
  }

  #grow(rows: number): void {
    if (rows <= this.#rows) return;
    this.#reserve(rows);
    if (rows > this.#known.length) {
      const known = new Uint8Array(Math.max(rows, this.#known.length * 2));
      known.set(this.#known);
      this.#known = known;
    }
    this.#rows = rows;
  }

  /** Room for the rows, a query and the products. */
  #reserve(rows: number): void {
    const wanted = ((rows + 1) * this.#stride + rows) * numberBytes;
    const have = this.#memory.buffer.byteLength;
    if (wanted <= have) return;
    const most = Math.max(wanted, Math.ceil(have * 1.25));
    this.#memory.grow(Math.ceil((most - have) / pageBytes));
    this.#numbers = new Float32Array(this.#memory.buffer);
  }
}
