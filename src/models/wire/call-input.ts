import { isJsonObject, parseExactJson } from "../../lib/text/parse-json.ts";

/**
 * Arguments of a tool call as a model wrote them: the object that they say, or their text where they say none, which
 * the call then fails with. Nothing, `null` and `[]` are no arguments; an object within a JSON string, commas before a
 * bracket and raw line feeds in strings are read as they are meant. Numbers that would lose digits stay text.
 */
export function readCallInput(text: string): unknown {
  if (text.trim() === "") return {};
  const read = parseExactJson(text) ?? parseExactJson(mended(text));
  const value = typeof read === "string" ? parseExactJson(read) : read;
  if (value === null || (Array.isArray(value) && value.length === 0)) return {};
  return isJsonObject(value) ? value : text;
}

/** The same for the vendor's eyes: all of them want an object back. */
export function inputForVendor(input: unknown): {} {
  return isJsonObject(input) ? input : {};
}

const escapes: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** JSON without the commas and raw blanks in strings that models write and parsers refuse. */
function mended(text: string): string {
  let written = "";
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if (isInString && sign === "\\") {
      written += text.slice(at, at + 2);
      at += 1;
    } else if (isInString) {
      written += escapes[sign] ?? sign;
      isInString = sign !== '"';
    } else {
      isInString = sign === '"';
      if (sign !== "," || !/^\s*[\]}]/.test(text.slice(at + 1, at + 100))) written += sign;
    }
  }
  return written;
}
