import { plainForm } from "../../../lib/text/plain-form.ts";

const label =
  "(?:pass(?:word|wort|phrase|code)|secret|(?:api|access|secret|account|shared)[ _-]?(?:access[ _-]?)?key|(?:auth|access|refresh|bearer|session)[ _-]?token|token|bearer)";
/** Purpose of a secret in the words of an extracted fact: "the password of the router is …". */
const what = String.raw`(?:\s{1,3}(?:of|for|to|on|at|in|von|für|vom|zum|zur|des|der|am|im|beim)\s[^.\n]{1,40}?)?`;

/**
 * In Chinese, simplified and traditional. A value is of letters and digits, beside which Chinese says what it is:
 * "密码是abc12345".
 */
const hanLabel =
  "(?:密[码碼]|口令|通行[码碼]|令牌|[密秘私][钥鑰]|(?:(?:验|驗)[证證]|校[验驗]|[动動][态態]|安全|提款|[门門]禁)[码碼])";
/** Chinese words for "is now" and "changed to". */
const hanIs =
  "(?:[现現]在|目前|[还還]|就|已[经經]?|[换換]|改|[设設]置?|[统統]一|都|仍然?|了|成|[为為]|是|叫|用|[:=]|\\s){0,6}[\"'“「『《]?";

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
    String.raw`${label}["']?${what}\s{1,3}(?:is|was|ist|war|lautet)\s{1,3}["']?(?=[^\s"']{0,63}[\d@#$%^&*_+=~])[^\s"']{4,}`,
    "i",
  ),
  new RegExp(`${hanLabel}${hanIs}[!-~]{4,}`),
  new RegExp(
    `(?<![!-~])(?=[!-~]{0,63}\\d)[!-~]{4,64}["'”」』》]?\\s?(?:就|才|便)?是[^。，、,;\\n!-~改忘]{0,12}${hanLabel}`,
  ),
  /助[记記][词詞][^a-z\n]{0,6}(?:[a-z]{3,12}[\s,、]{1,3}){5}/i,
  /\b(?:pin|cvv|cvc|otp|tan)(?:[ -]?(?:code|number|nummer))?["']?\s{0,3}(?:is|ist|=|:|lautet)?\s{0,3}["']?\d{3,8}\b/i,
  new RegExp(
    String.raw`\b(?:pin|cvv|cvc|otp|tan)(?:[ -]?(?:code|number|nummer))?${what}\s{1,3}(?:is|was|ist|war|lautet)\s{1,3}["']?\d{3,8}\b`,
    "i",
  ),
  /\b(?:seed|recovery|mnemonic|backup)[ -]?(?:phrase|words|codes?)["']?\s{0,3}(?:is|are|=|:)\s{0,3}["']?(?:[a-z0-9-]{3,12}[\s,]{1,3}){5}/i,
];

const cardNumber = /(?<![\d.,])(?:\d[ -]?){12,18}\d(?![\d.,]?\d)/g;

/**
 * True when a text seems to hold a private key, token, password or card number. Account numbers (IBAN), addresses and
 * phone numbers are allowed: groups have good reasons to remember them. By patterns, which cannot find everything.
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
