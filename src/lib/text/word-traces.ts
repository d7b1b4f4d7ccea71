import { createHash } from "node:crypto";

import { plainForm } from "./plain-form.ts";

const word = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{M}\p{N}]+/gu;
/** Number of words in a row that identify a speaker. */
const runLength = 3;
const shortestWord = 4;
const shortestWithDigit = 3;
/** Runs beyond these are not noted; single words are. */
const mostRuns = 4_000_000;

/**
 * Words that identify a speaker: words that nobody else used, and three in a row that nobody else said. Words of fewer
 * than four letters do not count.
 */
export class WordTraces {
  readonly #words = new Set<string>();
  readonly #runs = new Set<number>();

  /** They said this. */
  note(text: string): void {
    const words = wordsOf(text);
    for (const one of words) if (isTelling(one)) this.#words.add(one);
    for (const run of runsOf(words)) if (this.#runs.size < mostRuns) this.#runs.add(run);
  }

  /** Somebody else said this, so it tells nothing. */
  discount(text: string): void {
    const words = wordsOf(text);
    for (const one of words) this.#words.delete(one);
    for (const run of runsOf(words)) this.#runs.delete(run);
  }

  /** Does it hold a word or three in a row that only they said? */
  isIn(text: string): boolean {
    const words = wordsOf(text);
    return words.some((one) => this.#words.has(one)) || this.#hasRun(words);
  }

  /** Does it hold three words in a row that only they said? For texts that have nothing to do with them. */
  isRepeatedIn(text: string): boolean {
    return this.#hasRun(wordsOf(text));
  }

  get isEmpty(): boolean {
    return this.#words.size + this.#runs.size === 0;
  }

  #hasRun(words: readonly string[]): boolean {
    if (this.#runs.size === 0) return false;
    for (const run of runsOf(words)) if (this.#runs.has(run)) return true;
    return false;
  }
}

function wordsOf(text: string): readonly string[] {
  return plainForm(text).toLowerCase().match(word) ?? [];
}

function isTelling(one: string): boolean {
  return one.length >= (/\d/.test(one) && /\D/.test(one) ? shortestWithDigit : shortestWord);
}

function* runsOf(words: readonly string[]): Generator<number> {
  for (let start = 0; start + runLength <= words.length; start += 1)
    yield digest(words.slice(start, start + runLength).join(" "));
}

/** 48 bits: two runs that are taken for one only make more go than has to. */
function digest(run: string): number {
  return createHash("sha1").update(run).digest().readUIntBE(0, 6);
}
