type Numbers = Float64Array | Int32Array | Uint16Array | Uint8Array;

/** Numbers of one kind in the order in which they were added, without a box for each. */
export class NumberColumn<T extends Numbers> {
  readonly #kind: new (length: number) => T;
  #values: T;
  #length = 0;

  constructor(kind: new (length: number) => T) {
    this.#kind = kind;
    this.#values = new kind(64);
  }

  get length(): number {
    return this.#length;
  }

  /** At least `length` of them; what lies behind is nothing. Valid until the next `push`. */
  get values(): T {
    return this.#values;
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const larger = new this.#kind(this.#length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#length] = value;
    this.#length += 1;
  }
}
