import { randomBytes } from "node:crypto";

import { secretForms } from "./secret-forms.ts";

/** A number for each letter and digit, upper and lower case alike, anew for each process; 0 for all other bytes. */
const numberOf = makeNumbers();
/** Factor of the rolling hash; odd, so that every character counts. */
const multiplier = randomBytes(4).readInt32LE() | 1;

/** Receives a found form: bytes `from` to before `to` of the text. */
export type OnFound = (from: number, to: number) => void;

/**
 * Finds secrets in a text, in all their forms (see `secretForms`), by its letters and digits alone. Between two of them
 * may be `maxGap` other bytes, or more if there are more in a secret itself.
 *
 * How long that takes does not tell how much of the text looks like a secret: for each number of characters that a form
 * has, one hash of the last this many characters rolls along (Rabin-Karp, with numbers that are random per process),
 * and characters are compared only where the whole hash matches. So nobody can find a secret bit by bit with a watch in
 * the hand.
 */
export class SecretFinder {
  /** Bytes from the first to the last character of the longest form, with the widest gaps; 0 when there is none. */
  readonly longestSpan: number;
  readonly maxGap: number;
  /** Lengths of the forms, shortest first. */
  readonly lengths: Int32Array;
  /** The multiplier to the power of each of them. */
  readonly powers: Int32Array;
  /** Each form's characters as numbers, those with the fewest first; and the hash of all of them. */
  readonly forms: readonly Int32Array[];
  readonly hashes: Int32Array;
  /** Before which one the forms of each length end. */
  readonly ends: Int32Array;

  constructor(values: readonly string[], maxGap: number) {
    const forms = [...new Set(values.flatMap(secretForms))].toSorted((one, other) => one.length - other.length);
    // A secret that holds a wider gap itself would not be found as it is.
    this.maxGap = Math.max(maxGap, ...values.map(widestGap));
    this.lengths = Int32Array.from(new Set(forms.map((form) => form.length)));
    this.powers = this.lengths.map(power);
    this.forms = forms.map((form) => Int32Array.from(Buffer.from(form), (byte) => numberOf[byte] ?? 0));
    this.hashes = Int32Array.from(this.forms, hashOf);
    this.ends = this.lengths.map((length) => forms.findLastIndex((form) => form.length === length) + 1);
    const longest = this.lengths.at(-1) ?? 0;
    this.longestSpan = longest === 0 ? 0 : longest + (longest - 1) * maxGap;
  }

  /** For one text, which may come in pieces. */
  scan(onFound: OnFound): SecretScan {
    return new SecretScan(this, onFound);
  }

  /** Finds secrets in a whole text, overlapping ones joined, in order. */
  find(bytes: Uint8Array): { from: number; to: number }[] {
    const found: { from: number; to: number }[] = [];
    this.scan((from, to) => found.push({ from, to })).read(bytes);
    const joined: { from: number; to: number }[] = [];
    for (const span of found.toSorted((one, other) => one.from - other.from)) {
      const last = joined.at(-1);
      if (last && span.from < last.to) last.to = Math.max(last.to, span.to);
      else joined.push(span);
    }
    return joined;
  }
}

/** A text on its way through a finder. */
class SecretScan {
  readonly #finder: SecretFinder;
  readonly #onFound: OnFound;
  /** The last characters: their numbers, where they stand, and the hash of all before them. */
  readonly #numbers: Int32Array;
  readonly #places: Float64Array;
  readonly #hashes: Int32Array;
  #bytes = 0;
  #characters = 0;
  /** Characters since the last gap that was too wide. */
  #run = 0;
  #place = 0;
  #hash = 0;

  constructor(finder: SecretFinder, onFound: OnFound) {
    const size = 2 ** Math.ceil(Math.log2((finder.lengths.at(-1) ?? 1) + 1));
    this.#finder = finder;
    this.#onFound = onFound;
    this.#numbers = new Int32Array(size);
    this.#places = new Float64Array(size);
    this.#hashes = new Int32Array(size);
  }

  read(bytes: Uint8Array): void {
    const { maxGap } = this.#finder;
    const [numbers, places, hashes, last] = [this.#numbers, this.#places, this.#hashes, this.#numbers.length - 1];
    // Variables of the loop's own are several times as fast.
    let [characters, run, place, hash] = [this.#characters, this.#run, this.#place, this.#hash];
    for (let at = 0; at < bytes.length; at += 1) {
      const number = numberOf[bytes[at] ?? 0] ?? 0;
      if (number === 0) continue;
      const here = this.#bytes + at;
      run = here - place > maxGap + 1 ? 1 : run + 1;
      place = here;
      numbers[characters & last] = number;
      places[characters & last] = place;
      hashes[characters & last] = hash;
      hash = (Math.imul(hash, multiplier) + number) | 0;
      characters += 1;
      this.#judge(characters, run, hash);
    }
    this.#bytes += bytes.length;
    [this.#characters, this.#run, this.#place, this.#hash] = [characters, run, place, hash];
  }

  /** Is a form complete with the last character? */
  #judge(characters: number, run: number, hash: number): void {
    const { lengths, powers, hashes, ends } = this.#finder;
    const before = this.#hashes;
    for (let index = 0, form = 0; index < lengths.length; index += 1) {
      const length = lengths[index] ?? 0;
      if (run < length) return;
      const early = before[(characters - length) & (before.length - 1)] ?? 0;
      const own = (hash - Math.imul(early, powers[index] ?? 0)) | 0;
      for (const end = ends[index] ?? 0; form < end; form += 1) {
        if (hashes[form] === own) this.#compare(form, characters);
      }
    }
  }

  #compare(form: number, characters: number): void {
    const numbers = this.#finder.forms[form] ?? new Int32Array();
    const last = this.#numbers.length - 1;
    const first = characters - numbers.length;
    if (numbers.some((number, index) => this.#numbers[(first + index) & last] !== number)) return;
    this.#onFound(this.#places[first & last] ?? 0, (this.#places[(characters - 1) & last] ?? 0) + 1);
  }
}

function makeNumbers(): Int32Array {
  const table = new Int32Array(256);
  const taken = new Set([0]);
  for (const character of "abcdefghijklmnopqrstuvwxyz0123456789") {
    let number = 0;
    while (taken.has(number)) number = randomBytes(4).readInt32LE();
    taken.add(number);
    table[character.charCodeAt(0)] = number;
    table[character.toUpperCase().charCodeAt(0)] = number;
  }
  return table;
}

/** Bytes of the longest run without a letter or digit between two of them. */
export function widestGap(value: string): number {
  const runs = value.match(/(?<=[A-Za-z0-9])[^A-Za-z0-9]+(?=[A-Za-z0-9])/g) ?? [];
  return Math.max(0, ...runs.map((run) => Buffer.byteLength(run)));
}

function hashOf(form: Int32Array): number {
  return form.reduce((hash, number) => (Math.imul(hash, multiplier) + number) | 0, 0);
}

function power(exponent: number): number {
  let product = 1;
  for (let count = 0; count < exponent; count += 1) product = Math.imul(product, multiplier);
  return product;
}
