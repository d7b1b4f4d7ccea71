import { plainForm } from "../../lib/text/plain-form.ts";

const label =
  "(?:pass(?:word|wort|phrase|code)|secret|(?:api|access|secret|account|shared)[ _-]?(?:access[ _-]?)?key|(?:auth|access|refresh|bearer|session)[ _-]?token|token|bearer)";

const patterns: readonly RegExp[] = [
  /-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY/,
  /\bPuTTY-User-Key-File-\d/,
  /\bAGE-SECRET-KEY-1[A-Z0-9]{20,}/,
  // Keys that say what they are by how they begin.
  /\b(?:sk|rk|pk)[-_](?:[A-Za-z0-9]{1,12}[-_]){0,3}[A-Za-z0-9]{16,}/,
  /\b(?:ghp|gho|ghu|ghs|ghr|github_pat|glpat|npm|pypi|hf|xox[abeprs]|whsec|shpat|shpss|dop_v1|GOCSPX|sq0csp|tskey|dckr_pat)[-_][A-Za-z0-9_-]{16,}/,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/,
  /\bAIza[A-Za-z0-9_-]{30,}/,
  /\bya29\.[A-Za-z0-9_-]{20,}/,
  /\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/,
  /\b\d{8,10}:[A-Za-z0-9_-]{35}\b/,
  /\bhooks\.slack\.com\/services\/[A-Za-z0-9/]{16,}/,
  // A password in an address, and in a header.
  /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]{1,64}:[^\s/@]{3,128}@/i,
  /\bauthorization["']?\s{0,3}[:=]\s{0,3}["']?(?:basic|bearer|token)\s{1,3}[A-Za-z0-9+/=._-]{8,}/i,
  // What somebody says is one.
  new RegExp(String.raw`${label}["']?\s{0,3}(?:is|ist|=|:)?\s{0,3}["']?(?=[^\s"']{0,63}\d)[^\s"']{8,}`, "i"),
  new RegExp(String.raw`${label}["']?\s{0,3}[=:]\s{0,3}["']?[^\s"']{4,}`, "i"),
  new RegExp(
    String.raw`${label}["']?\s{1,3}(?:is|was|ist|war|lautet)\s{1,3}["']?(?=[^\s"']{0,63}[\d@#$%^&*_+=~])[^\s"']{4,}`,
    "i",
  ),
  /\b(?:pin|cvv|cvc|otp|tan)(?:[ -]?(?:code|number|nummer))?["']?\s{0,3}(?:is|ist|=|:|lautet)?\s{0,3}["']?\d{3,8}\b/i,
  /\b(?:seed|recovery|mnemonic|backup)[ -]?(?:phrase|words|codes?)["']?\s{0,3}(?:is|are|=|:)\s{0,3}["']?(?:[a-z0-9-]{3,12}[\s,]{1,3}){5}/i,
];

const cardNumber = /(?<![\d.,])(?:\d[ -]?){12,18}\d(?![\d.,]?\d)/g;

/**
 * Does it look as if it held a private key, a token, a password, or the number of a payment card? Account numbers (IBAN), addresses and
 * telephone numbers are no secrets: groups have good reasons to remember them. By patterns, which cannot find everything.
 */
export function isSecret(text: string): boolean {
  const plain = plainForm(text);
  return patterns.some((pattern) => pattern.test(plain)) || (plain.match(cardNumber) ?? []).some(isCard);
}

/** The digits begin as those of a card and have its check digit. */
function isCard(number: string): boolean {
  const digits = number.replaceAll(/\D/g, "");
  return /^(?:4|5[1-5]|2[2-7]|3[47]|6(?:011|5))/.test(digits) && sumOf(digits) % 10 === 0;
}

/** By Luhn: from the right every second digit counts twice. */
function sumOf(digits: string): number {
  return Array.from(digits, Number)
    .toReversed()
    .reduce((sum, digit, place) => {
      const value = digit * (place % 2 === 0 ? 1 : 2);
      return sum + (value > 9 ? value - 9 : value);
    }, 0);
}
