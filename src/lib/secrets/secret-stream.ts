import { widestGap } from "./secret-finder.ts";
import { secretForms } from "./secret-forms.ts";

/**
 * A form of a secret, and how much of it is matched still when its next character is another one (Knuth, Morris and
 * Pratt).
 */
interface Pattern {
  readonly form: string;
  readonly borders: Int32Array;
}

/**
 * A `SecretFinder` for streamed text. It holds back the possible beginning of a secret, which shows in the timing, so
 * that a secret could be guessed character by character. Only for readers who may know the secrets, never for chats.
 */
export class SecretPatterns {
  readonly patterns: readonly Pattern[];
  readonly longest: number;
  readonly maxGap: number;
  readonly #byFirst = new Map<string, number[]>();

  constructor(values: readonly string[], maxGap: number) {
    const forms = [...new Set(values.flatMap(secretForms))];
    this.patterns = forms.map((form) => ({ form, borders: bordersOf(form) }));
    this.longest = Math.max(1, ...forms.map((form) => form.length));
    this.maxGap = Math.max(maxGap, ...values.map(widestGap));
    for (const [index, form] of forms.entries()) {
      const [first = ""] = form;
      this.#byFirst.set(first, [...(this.#byFirst.get(first) ?? []), index]);
    }
  }

  beginningWith(character: string): readonly number[] {
    return this.#byFirst.get(character) ?? [];
  }
}

interface Span {
  readonly from: number;
  readonly to: number;
}

export interface SecretStreamOptions {
  readonly replacement: string;
  /**
   * Text is held from where this many letters and digits of a secret stand. With 1 nothing of one is ever passed on;
   * with more its first few may be, and what ends like a beginning of one is not held until more comes.
   */
  readonly leastHeld: number;
}

/** One text on its way: each piece gives what can be passed on, with `replacement` in place of secrets. */
export class SecretStream {
  readonly #patterns: SecretPatterns;
  readonly #options: SecretStreamOptions;
  /** Matched length of each pattern; patterns without a match are left out. */
  #matched = new Map<number, number>();
  /** Positions of the last letters and digits, as many as the longest form has. */
  readonly #places: Float64Array;
  #characters = 0;
  /** In UTF-16 units: where the text that is held begins, and where the next character will stand. */
  #passed = 0;
  /** End of the last replaced secret. */
  #replaced = 0;
  #position = 0;
  /** Bytes since the last letter or digit. */
  #gap = 0;
  #held = "";
  #found: Span[] = [];

  constructor(patterns: SecretPatterns, options: SecretStreamOptions) {
    this.#patterns = patterns;
    this.#options = options;
    this.#places = new Float64Array(patterns.longest);
  }

  /** Returns what may be passed on by now. */
  add(text: string): string {
    if (this.#patterns.patterns.length === 0) return text;
    for (let at = 0; at < text.length; at += 1) this.#read(text.charCodeAt(at));
    this.#held += text;
    return this.#passOn(this.#firstDoubtful());
  }

  /** Returns the rest: what only looked like the beginning of a secret was none. */
  end(): string {
    this.#matched = new Map();
    return this.#passOn(this.#position);
  }

  #read(code: number): void {
    const here = this.#position;
    this.#position += 1;
    const character = isLetterOrDigit(code) ? String.fromCharCode(code).toLowerCase() : undefined;
    if (character === undefined) {
      this.#gap += bytesOf(code);
      if (this.#gap > this.#patterns.maxGap) this.#matched = new Map();
      return;
    }
    this.#gap = 0;
    this.#places[this.#characters % this.#places.length] = here;
    this.#characters += 1;
    this.#match(character, here);
  }

  #match(character: string, here: number): void {
    const { patterns } = this.#patterns;
    const before = this.#matched;
    const matched = new Map<number, number>();
    for (const [index, length] of before) {
      const pattern = patterns[index];
      if (!pattern) continue;
      let now = length;
      while (now > 0 && pattern.form[now] !== character) now = pattern.borders[now - 1] ?? 0;
      if (pattern.form[now] === character) now += 1;
      if (now > 0) this.#note(matched, { index, now, here });
    }
    for (const index of this.#patterns.beginningWith(character)) {
      if (!before.has(index)) this.#note(matched, { index, now: 1, here });
    }
    this.#matched = matched;
  }

  #note(
    matched: Map<number, number>,
    { index, now, here }: { readonly index: number; readonly now: number; readonly here: number },
  ): void {
    const pattern = this.#patterns.patterns[index];
    if (now !== pattern?.form.length) return void matched.set(index, now);
    this.#found.push({ from: this.#placeOf(now), to: here + 1 });
    const border = pattern.borders[now - 1] ?? 0;
    if (border > 0) matched.set(index, border);
  }

  /** Position of the n-th last letter or digit. */
  #placeOf(last: number): number {
    return this.#places[(this.#characters - last) % this.#places.length] ?? 0;
  }

  #firstDoubtful(): number {
    let longest = 0;
    for (const length of this.#matched.values()) longest = Math.max(longest, length);
    return longest < this.#options.leastHeld ? this.#position : this.#placeOf(longest);
  }

  /** Passes on what stands before this place; of a secret that begins before it, nothing but that there is one. */
  #passOn(until: number): string {
    let passed = "";
    const later: Span[] = [];
    for (const span of this.#found.toSorted((one, other) => one.from - other.from)) {
      if (span.from >= until && span.from >= this.#passed) {
        later.push(span);
        continue;
      }
      // One that overlaps the one before it is a part of it.
      if (span.from >= this.#replaced) passed += this.#take(span.from) + this.#options.replacement;
      this.#take(span.to);
      this.#replaced = Math.max(this.#replaced, span.to);
    }
    this.#found = later;
    return passed + this.#take(until);
  }

  #take(until: number): string {
    const count = Math.max(0, until - this.#passed);
    const taken = this.#held.slice(0, count);
    this.#held = this.#held.slice(count);
    this.#passed += taken.length;
    return taken;
  }
}

function isLetterOrDigit(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

/** In UTF-8, of which half of a pair has its half. */
function bytesOf(code: number): number {
  if (code < 0x80) return 1;
  return code < 0x800 || (code >= 0xd800 && code <= 0xdfff) ? 2 : 3;
}

function bordersOf(form: string): Int32Array {
  const borders = new Int32Array(form.length);
  for (let at = 1, length = 0; at < form.length; at += 1) {
    while (length > 0 && form[at] !== form[length]) length = borders[length - 1] ?? 0;
    if (form[at] === form[length]) length += 1;
    borders[at] = length;
  }
  return borders;
}
