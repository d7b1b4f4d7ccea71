import { limits } from "./limits.ts";

export type JsonReading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: string };

/**
 * Keys that change what an object *is* once it is copied key by key (`Object.assign`, a spread of spreads, a merge).
 */
const forbiddenKeys: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

const code = { quote: 34, colon: 58, openArray: 91, backslash: 92, closeArray: 93, open: 123, close: 125 };

/**
 * Reads JSON that somebody hostile may have written: at most `limits.depth` levels, no key twice in an object, no key
 * that touches prototypes. Never throws. The caller has capped the size of the text.
 */
export function readJson(text: string): JsonReading {
  const reason = refusal(text);
  if (reason !== undefined) return { ok: false, reason };
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false, reason: "not JSON" };
  }
}

/**
 * Returns why a text must not be parsed, without building anything from it. Knows enough grammar to tell keys from
 * strings; invalid JSON is left to `JSON.parse`.
 */
function refusal(text: string): string | undefined {
  const scanner = new Scanner();
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === code.quote) {
      const end = endOfString(text, at);
      const key = isKey(text, end) ? keyText(text.slice(at, end)) : undefined;
      if (key !== undefined) scanner.key(key);
      at = end - 1;
    } else {
      scanner.character(character);
    }
    if (scanner.reason !== undefined) return scanner.reason;
  }
  return undefined;
}

class Scanner {
  reason: string | undefined;
  /** For each open bracket the keys seen so far; arrays have none. */
  readonly #open: Set<string>[] = [];

  character(character: number): void {
    if (character === code.open || character === code.openArray) {
      if (this.#open.length === limits.depth) this.reason = `nested deeper than ${limits.depth} levels`;
      this.#open.push(new Set());
    } else if (character === code.close || character === code.closeArray) {
      this.#open.pop();
    }
  }

  key(key: string): void {
    const keys = this.#open.at(-1);
    if (forbiddenKeys.has(key)) this.reason = `the key ${key}`;
    else if (keys?.has(key) === true) this.reason = `the key ${JSON.stringify(key.slice(0, 40))} twice`;
    keys?.add(key);
  }
}

/**
 * The index after the closing quote, or the end of the text where there is none. Not one character after the other:
 * strings are most of a message, and the first ones are read before this is compiled.
 */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end + 1;
}

/** A character of a string is escaped when an odd number of backslashes stands before it. */
function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (text.charCodeAt(before - 1) === code.backslash) before -= 1;
  return (at - before) % 2 === 1;
}

function isKey(text: string, end: number): boolean {
  let at = end;
  while (at < text.length && " \t\n\r".includes(text.charAt(at))) at += 1;
  return text.charCodeAt(at) === code.colon;
}

/** Escapes are undone, so that `"\u005f_proto__"` is found; a malformed string is `JSON.parse`'s to refuse. */
function keyText(quoted: string): string | undefined {
  if (!quoted.includes("\\")) return quoted.slice(1, -1);
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return undefined;
  }
}
