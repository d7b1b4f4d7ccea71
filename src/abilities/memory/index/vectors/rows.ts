/** Rows per block, so that growing copies no large array. */
const pieceRows = 2_048;

/** Rows of numbers of four bytes, as many in each, and which of them are known. */
export class VectorRows {
  readonly #pieces: Float32Array[] = [];
  readonly #width: number;
  #count = 0;
  #isKnown = new Uint8Array(64);
  #known = 0;

  constructor(width: number) {
    this.#width = width;
  }

  /** Number of rows, with a vector or not. */
  get count(): number {
    return this.#count;
  }

  get known(): number {
    return this.#known;
  }

  /** 1: it is known. Valid until there are more rows. */
  get isKnown(): Uint8Array {
    return this.#isKnown;
  }

  has(row: number): boolean {
    return this.#isKnown[row] === 1;
  }

  /** Grows to at least this number of rows. */
  reach(count: number): void {
    this.#count = Math.max(this.#count, count);
    if (count <= this.#isKnown.length) return;
    const isKnown = new Uint8Array(Math.max(count, this.#isKnown.length * 2));
    isKnown.set(this.#isKnown);
    this.#isKnown = isKnown;
  }

  /** Sets an existing row. */
  set(row: number, numbers: Float32Array): void {
    if (this.#isKnown[row] === 0) this.#known += 1;
    this.#isKnown[row] = 1;
    this.#pieceOf(row).set(numbers, (row % pieceRows) * this.#width);
  }

  /** Their product with `query`, exactly. */
  product(row: number, query: Float32Array): number {
    return dotAt(this.#pieceOf(row), (row % pieceRows) * this.#width, query, this.#width);
  }

  #pieceOf(row: number): Float32Array {
    return (this.#pieces[Math.floor(row / pieceRows)] ??= new Float32Array(pieceRows * this.#width));
  }
}

/** Dot product of `query` with `numbers` from `begin`. Four sums in parallel: one would wait for each addition. */
function dotAt(numbers: Float32Array, begin: number, query: Float32Array, length: number): number {
  const fours = length - (length % 4);
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  for (let at = 0; at < fours; at += 4) {
    const from = begin + at;
    a += (numbers[from] as number) * (query[at] as number);
    b += (numbers[from + 1] as number) * (query[at + 1] as number);
    c += (numbers[from + 2] as number) * (query[at + 2] as number);
    d += (numbers[from + 3] as number) * (query[at + 3] as number);
  }
  for (let at = fours; at < length; at += 1) a += (numbers[begin + at] as number) * (query[at] as number);
  return a + b + c + d;
}
