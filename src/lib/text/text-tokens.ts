/**
 * Estimates how many tokens a text costs, on the high side, without a tokenizer: a third of a token for each ASCII
 * letter or blank, one for each digit, and half a token for each other sign and for each byte of everything else.
 * Vendors' tokenizers need about 0.2 to 0.3 for a character of English, 0.3 to 0.5 for one of code or JSON, 0.7 for a
 * hexadecimal digit and 0.7 to 1.4 for a Chinese character (here 1.5). Only random letters, as in Base64, can cost up
 * to twice the estimate. Adding up the parts of a text never gives less than the whole.
 */
export function estimateTextTokens(text: string): number {
  let sixths = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    sixths += unit < 0x80 ? (ofAscii[unit] ?? 3) : bytesOf(unit) * 3;
  }
  return Math.ceil(sixths / 6);
}

/** Looked up, because a prompt of a million characters is gone through at once. */
const ofAscii = Uint8Array.from({ length: 0x80 }, (_, unit) => {
  if (isLetterOrBlank(unit)) return 2;
  return unit >= 0x30 && unit <= 0x39 ? 6 : 3;
});

/** In UTF-8: two below U+0800, four for a pair of surrogates, three for the rest. */
function bytesOf(unit: number): number {
  return unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3;
}

function isLetterOrBlank(unit: number): boolean {
  const lower = unit | 0x20;
  return unit === 0x20 || unit === 0x0a || (lower >= 0x61 && lower <= 0x7a);
}
