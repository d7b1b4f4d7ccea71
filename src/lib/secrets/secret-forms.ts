/**
 * Fewest letters and digits that a form of a secret must have to be looked for: shorter ones are found in ordinary
 * words, and somebody could try them all.
 */
export const shortestForm = 8;

const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const base32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Reduces a text for comparison to its ASCII letters and digits, in lower case. */
export function project(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9]/g, "").toLowerCase();
}

/**
 * Forms of a secret in JSON, HTML, URLs, hexadecimal, base64 and base32 at every offset, and reversed, each reduced by
 * `project`, so that case, base64url and separators make no difference.
 */
export function secretForms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const written = [
    secret,
    ...escapes.map(([characters, escape]) => secret.replaceAll(characters, escape)),
    Array.from(secret).toReversed().join(""),
    bytes.toString("hex"),
    ...[0, 1, 2].map((offset) => inAlphabet(bytes, offset, base64)),
    ...[0, 1, 2, 3, 4].map((offset) => inAlphabet(bytes, offset, base32)),
  ];
  return [...new Set(written.map(project))].filter((form) => form.length >= shortestForm);
}

/** Writers differ in which characters they escape; one that escapes all of them, letters too, writes hexadecimal. */
const escapes: readonly (readonly [RegExp, (character: string) => string])[] = [
  [/["\\]/g, (character) => `\\${character}`],
  [/[<>&]/g, escapeUnicode],
  [/[<>&'=]/g, escapeUnicode],
  [/[<>&'"`+]/g, escapeUnicode],
  [/[^A-Za-z0-9\-_.~]/g, escapeUnicode],
  [/[^A-Za-z0-9]/g, escapeUnicode],
  [/[<>&"']/g, escapeHtml],
  [/[^A-Za-z0-9\-_.~!*'()]/g, escapeInUrl],
  [/[^A-Za-z0-9\-_.*]/g, escapeInUrl],
  [/[^A-Za-z0-9\-_.~/]/g, escapeInUrl],
  [/[^A-Za-z0-9]/g, escapeInUrl],
];

function escapeUnicode(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function escapeHtml(character: string): string {
  return { "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;" }[character] ?? "&#39;";
}

function escapeInUrl(character: string): string {
  return `%${Buffer.from(character).toString("hex")}`;
}

/**
 * The characters that stay the same whatever stands before and behind, for bytes that begin `offset` bytes into a
 * group. The alphabet's length is a power of two.
 */
function inAlphabet(bytes: Buffer, offset: number, alphabet: string): string {
  const bits = Math.log2(alphabet.length);
  const end = Math.floor(((offset + bytes.length) * 8) / bits);
  let text = "";
  for (let at = Math.ceil((offset * 8) / bits); at < end; at += 1) {
    const first = at * bits - offset * 8;
    const pair = ((bytes[first >> 3] ?? 0) << 8) | (bytes[(first >> 3) + 1] ?? 0);
    text += alphabet[(pair >> (16 - bits - (first & 7))) & (alphabet.length - 1)];
  }
  return text;
}
