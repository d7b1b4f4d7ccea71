import { dotProductsIn, laneBytes, wasmMemory } from "./dot-products.ts";
import { VectorRows } from "./rows.ts";
import type { Vectors } from "./vectors.ts";

const pageBytes = 65_536;
const productBytes = 4;
const mostByte = 127;
const mostShort = 32_767;

/**
 * Unit vectors of one model, one behind the other. `products` compares bytes, one for each number, which tells those
 * that may be the best apart from the others; `product` is exact.
 */
export class PackedVectors implements Vectors {
  readonly #memory = wasmMemory();
  readonly #dots = dotProductsIn(this.#memory);
  readonly #dimensions: number;
  readonly #stride: number;
  readonly #exact: VectorRows;
  /** Scale factors of the rows' bytes. */
  #scales = new Float32Array(64);

  constructor(dimensions: number) {
    this.#dimensions = dimensions;
    this.#exact = new VectorRows(dimensions);
    this.#stride = Math.ceil(dimensions / laneBytes) * laneBytes;
  }

  get known(): number {
    return this.#exact.known;
  }

  get isKnown(): Uint8Array {
    return this.#exact.isKnown;
  }

  has(row: number): boolean {
    return this.#exact.has(row);
  }

  set(row: number, vector: Float32Array | undefined): void {
    this.#grow(row + 1);
    if (vector === undefined) return;
    const numbers = vector.subarray(0, this.#dimensions);
    this.#exact.set(row, numbers);
    const scale = mostOf(numbers) / mostByte;
    if (scale > 0) roundTo(new Int8Array(this.#memory.buffer, this.#placeOf(row), this.#stride), numbers, scale);
    this.#scales[row] = scale;
  }

  /**
   * The product of every row with `query`, rounded: it is off by no more than the half of the row's largest number /
   * 127 in each number.
   */
  products(query: Float32Array): Float32Array {
    const rows = this.#exact.count;
    const products = new Float32Array(rows);
    const scale = mostOf(query) / mostShort;
    if (rows === 0 || scale === 0) return products;
    const outAt = this.#placeOf(rows);
    const shorts = new Int16Array(this.#memory.buffer, 0, this.#stride).fill(0);
    roundTo(shorts, query.subarray(0, this.#dimensions), scale);
    this.#dots(this.#placeOf(0), 0, outAt, rows, this.#stride);
    const out = new Int32Array(this.#memory.buffer, outAt, rows);
    const scales = this.#scales;
    for (let row = 0; row < rows; row += 1) products[row] = (out[row] ?? 0) * (scales[row] ?? 0) * scale;
    return products;
  }

  /** The product of one row with `query`, exactly. */
  product(row: number, query: Float32Array): number {
    return this.#exact.product(row, query);
  }

  /** The query lies before the rows, the products behind them. */
  #placeOf(row: number): number {
    return (2 + row) * this.#stride;
  }

  #grow(rows: number): void {
    const { count } = this.#exact;
    if (rows <= count) return;
    const begin = this.#placeOf(count);
    const end = this.#placeOf(rows);
    // With room for the products: a search needs no more.
    this.#reserve(end + rows * productBytes);
    // Products may have lain there, and rows begin as zeros.
    new Uint8Array(this.#memory.buffer, begin, end - begin).fill(0);
    if (rows > this.#scales.length) {
      const scales = new Float32Array(Math.max(rows, this.#scales.length * 2));
      scales.set(this.#scales);
      this.#scales = scales;
    }
    this.#exact.reach(rows);
  }

  #reserve(bytes: number): void {
    const have = this.#memory.buffer.byteLength;
    if (bytes <= have) return;
    const most = Math.max(bytes, Math.ceil(have * 1.25));
    this.#memory.grow(Math.ceil((most - have) / pageBytes));
  }
}

/** Plain loops: `for … of`, and `Math.max` with its care for what is no number, take three times as long. */
function mostOf(numbers: Float32Array): number {
  let most = 0;
  for (let at = 0; at < numbers.length; at += 1) {
    const size = Math.abs(numbers[at] as number);
    if (size > most) most = size;
  }
  return most;
}

/** `Math.round` of each number / `scale`, in half the time: what is cut off a positive number is rounded down. */
function roundTo(target: Int8Array | Int16Array, numbers: Float32Array, scale: number): void {
  const factor = 1 / scale;
  for (let at = 0; at < numbers.length; at += 1)
    target[at] = Math.trunc((numbers[at] as number) * factor + mostShort + 0.5) - mostShort;
}
