/**
 * Estimates how many tokens a text costs, on the high side, without a tokenizer: a third of a token for each ASCII letter or
 * blank, one for each digit, and half a token for each other sign and for each byte of everything else. Vendors' tokenizers
 * need about 0.2 to 0.3 for a character of English, 0.3 to 0.5 for one of code or JSON, 0.7 for a hexadecimal digit and 0.7 to
 * 1.4 for a Chinese character (here 1.5). Only random letters, as in Base64, can cost up to twice the estimate.
 * Adding up the parts of a text never gives less than the whole.
 */
export function estimateTextTokens(text: string): number {
  let sixths = 0;
  for (let index = 0; index < text.length; index += 1) sixths += sixthsOf(text.charCodeAt(index));
  return Math.ceil(sixths / 6);
}

function sixthsOf(unit: number): number {
  if (isLetterOrBlank(unit)) return 2;
  if (unit >= 0x30 && unit <= 0x39) return 6;
  if (unit < 0x80) return 3;
  // Bytes in UTF-8: two below U+0800, four for a pair of surrogates, three for the rest.
  const bytes = unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3;
  return bytes * 3;
}

function isLetterOrBlank(unit: number): boolean {
  const lower = unit | 0x20;
  return unit === 0x20 || unit === 0x0a || (lower >= 0x61 && lower <= 0x7a);
}
