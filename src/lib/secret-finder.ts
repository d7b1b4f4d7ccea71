import { randomBytes } from "node:crypto";

import { secretForms } from "./secret-forms.ts";

/** A number for each letter and digit, upper and lower case alike, anew for each process; 0 for all other bytes. */
const numberOf = makeNumbers();
/** What a hash is multiplied with for each further character; odd, so that no character's share is lost. */
const multiplier = randomBytes(4).readInt32LE() | 1;

/** All forms that have the same number of characters, by their hashes. */
interface FormsOfLength {
  readonly length: number;
  readonly hashes: Int32Array;
  readonly forms: readonly Int32Array[];
  /** The multiplier to the power of the length. */
  readonly power: number;
}

/** Where a form was found: `from` to before `to`, counted from the first byte of the text. */
export type OnFound = (from: number, to: number) => void;

/**
 * Finds secrets in a text, in all their forms (see `secretForms`), by its letters and digits alone. Between two of them may be
 * `maxGap` other bytes.
 *
 * How long that takes does not tell how much of the text looks like a secret: for each number of characters that a form
 * has, one hash of the last so many characters rolls along (Rabin-Karp, with numbers that are random per process), and characters
 * are compared only where the whole hash matches. So nobody can find a secret bit by bit with a watch in the hand.
 */
export class SecretFinder {
  /** Bytes from the first to the last character of the longest form, with the widest gaps; 0 when there is none. */
  readonly longestSpan: number;
  readonly maxGap: number;
  /** The shortest first. */
  readonly lengths: readonly FormsOfLength[];

  constructor(values: readonly string[], maxGap: number) {
    const forms = new Set(values.flatMap(secretForms));
    const byLength = Map.groupBy(forms, (form) => form.length);
    this.maxGap = maxGap;
    this.lengths = [...byLength]
      .toSorted(([one], [other]) => one - other)
      .map(([length, same]) => prepareForms(length, same));
    const longest = this.lengths.at(-1)?.length ?? 0;
    this.longestSpan = longest === 0 ? 0 : longest + (longest - 1) * maxGap;
  }

  /** For one text, which may come in pieces. */
  scan(onFound: OnFound): SecretScan {
    return new SecretScan(this, onFound);
  }

  /** Where secrets are in a whole text, overlapping ones joined, in order. */
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
  readonly #last: number;
  #bytes = 0;
  #characters = 0;
  /** Characters since the last gap that was too wide. */
  #run = 0;
  #place = 0;
  #hash = 0;

  constructor(finder: SecretFinder, onFound: OnFound) {
    const size = 2 ** Math.ceil(Math.log2((finder.lengths.at(-1)?.length ?? 1) + 1));
    this.#finder = finder;
    this.#onFound = onFound;
    this.#numbers = new Int32Array(size);
    this.#places = new Float64Array(size);
    this.#hashes = new Int32Array(size);
    this.#last = size - 1;
  }

  read(bytes: Uint8Array): void {
    const { maxGap } = this.#finder;
    for (let at = 0; at < bytes.length; at += 1) {
      const number = numberOf[bytes[at] ?? 0] ?? 0;
      if (number === 0) continue;
      const place = this.#bytes + at;
      if (place - this.#place > maxGap + 1) this.#run = 0;
      this.#take(number, place);
      this.#judge();
    }
    this.#bytes += bytes.length;
  }

  #take(number: number, place: number): void {
    const slot = this.#characters & this.#last;
    this.#numbers[slot] = number;
    this.#places[slot] = place;
    this.#hashes[slot] = this.#hash;
    this.#hash = (Math.imul(this.#hash, multiplier) + number) | 0;
    this.#characters += 1;
    this.#run += 1;
    this.#place = place;
  }

  #judge(): void {
    for (const same of this.#finder.lengths) {
      if (this.#run < same.length) return;
      const before = this.#hashes[(this.#characters - same.length) & this.#last] ?? 0;
      const hash = (this.#hash - Math.imul(before, same.power)) | 0;
      for (let index = 0; index < same.hashes.length; index += 1) {
        if (same.hashes[index] === hash) this.#compare(same.forms[index] ?? same.hashes);
      }
    }
  }

  #compare(form: Int32Array): void {
    const first = this.#characters - form.length;
    for (let index = 0; index < form.length; index += 1) {
      if (this.#numbers[(first + index) & this.#last] !== form[index]) return;
    }
    this.#onFound(this.#places[first & this.#last] ?? 0, this.#place + 1);
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

function prepareForms(length: number, texts: readonly string[]): FormsOfLength {
  const forms = texts.map((text) => Int32Array.from(Buffer.from(text), (byte) => numberOf[byte] ?? 0));
  const hashes = forms.map((form) => form.reduce((hash, number) => (Math.imul(hash, multiplier) + number) | 0, 0));
  let power = 1;
  for (let count = 0; count < length; count += 1) power = Math.imul(power, multiplier);
  return { length, forms, power, hashes: Int32Array.from(hashes) };
}
