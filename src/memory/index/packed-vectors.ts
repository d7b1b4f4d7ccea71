import { dotProductsIn, laneBytes, wasmMemory } from "./dot-products.ts";

const pageBytes = 65_536;
const productBytes = 4;
/** Rows are kept in pieces of so many, so that no large array is ever copied to make it larger. */
const pieceRows = 2_048;
const mostByte = 127;
const mostShort = 32_767;

/** What a number of a vector takes: as it is, and as the byte that is looked at first. */
export const bytesPerNumber = 5;

/**
 * Unit vectors of one model, one behind the other. `products` compares bytes, one for each number, which tells those that may be the best
 * apart from the others; `product` is exact.
 */
export class PackedVectors {
  readonly #memory = wasmMemory();
  readonly #dots = dotProductsIn(this.#memory);
  readonly #dimensions: number;
  readonly #stride: number;
  readonly #pieces: Float32Array[] = [];
  /** What a row's bytes are to be taken times. */
  #scales = new Float32Array(64);
  #rows = 0;
  #known = new Uint8Array(64);
  #knownCount = 0;

  constructor(dimensions: number) {
    this.#dimensions = dimensions;
    this.#stride = Math.ceil(dimensions / laneBytes) * laneBytes;
  }

  /** How many rows have a vector. */
  get known(): number {
    return this.#knownCount;
  }

  /** 1: the row has a vector. Valid until the next `set`. */
  get isKnown(): Uint8Array {
    return this.#known;
  }

  has(row: number): boolean {
    return this.#known[row] === 1;
  }

  /** Rows up to this one exist from now on. Throws RangeError when there is no memory for them. */
  set(row: number, vector: Float32Array | undefined): void {
    this.#grow(row + 1);
    if (vector === undefined) return;
    const numbers = vector.subarray(0, this.#dimensions);
    this.#pieceOf(row).set(numbers, (row % pieceRows) * this.#dimensions);
    const scale = mostOf(numbers) / mostByte;
    const bytes = new Int8Array(this.#memory.buffer, this.#placeOf(row), this.#stride);
    for (let at = 0; at < numbers.length; at += 1) bytes[at] = scale === 0 ? 0 : Math.round((numbers[at] ?? 0) / scale);
    this.#scales[row] = scale;
    if (this.#known[row] === 0) this.#knownCount += 1;
    this.#known[row] = 1;
  }

  /** The product of every row with `query`, rounded: it is off by no more than the half of the row's largest number / 127 in each number. */
  products(query: Float32Array): Float32Array {
    const rows = this.#rows;
    const products = new Float32Array(rows);
    const scale = mostOf(query) / mostShort;
    if (rows === 0 || scale === 0) return products;
    const outAt = this.#placeOf(rows);
    this.#reserve(outAt + rows * productBytes);
    const shorts = new Int16Array(this.#memory.buffer, 0, this.#stride).fill(0);
    for (let at = 0; at < this.#dimensions; at += 1) shorts[at] = Math.round((query[at] ?? 0) / scale);
    this.#dots(this.#placeOf(0), 0, outAt, rows, this.#stride);
    const out = new Int32Array(this.#memory.buffer, outAt, rows);
    const scales = this.#scales;
    for (let row = 0; row < rows; row += 1) products[row] = (out[row] ?? 0) * (scales[row] ?? 0) * scale;
    return products;
  }

  /** The product of one row with `query`, exactly. */
  product(row: number, query: Float32Array): number {
    const numbers = this.#pieceOf(row);
    const begin = (row % pieceRows) * this.#dimensions;
    let sum = 0;
    for (let at = 0; at < this.#dimensions; at += 1) sum += (numbers[begin + at] ?? 0) * (query[at] ?? 0);
    return sum;
  }

  /** The query lies before the rows, the products behind them. */
  #placeOf(row: number): number {
    return (2 + row) * this.#stride;
  }

  #pieceOf(row: number): Float32Array {
    return (this.#pieces[Math.floor(row / pieceRows)] ??= new Float32Array(pieceRows * this.#dimensions));
  }

  #grow(rows: number): void {
    if (rows <= this.#rows) return;
    const begin = this.#placeOf(this.#rows);
    const end = this.#placeOf(rows);
    this.#reserve(end);
    // Products may have lain there, and rows begin as zeros.
    new Uint8Array(this.#memory.buffer, begin, end - begin).fill(0);
    if (rows > this.#known.length) {
      const length = Math.max(rows, this.#known.length * 2);
      const known = new Uint8Array(length);
      known.set(this.#known);
      this.#known = known;
      const scales = new Float32Array(length);
      scales.set(this.#scales);
      this.#scales = scales;
    }
    this.#rows = rows;
  }

  #reserve(bytes: number): void {
    const have = this.#memory.buffer.byteLength;
    if (bytes <= have) return;
    const most = Math.max(bytes, Math.ceil(have * 1.25));
    this.#memory.grow(Math.ceil((most - have) / pageBytes));
  }
}

function mostOf(numbers: Float32Array): number {
  let most = 0;
  for (const number of numbers) most = Math.max(most, Math.abs(number));
  return most;
}
