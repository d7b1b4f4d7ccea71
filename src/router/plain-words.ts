const foreign = /[^\p{L}\p{M}\p{N}\p{Extended_Pictographic}'’,&+ -]/gu;

/**
 * A stranger's words for a text of the host: one line of letters, digits and pictures. Whatever mentions somebody, is
 * markup or a link to some platform, steers a terminal or hides becomes a blank; marks are not piled up.
 */
export function plainWords(text: string, maxChars: number): string {
  const words = text
    .toWellFormed()
    .normalize("NFC")
    .replaceAll(foreign, " ")
    .replaceAll(/(\p{M}{3})\p{M}+/gu, "$1")
    .replaceAll(/\s+/g, " ")
    .trim();
  const characters = Array.from(words);
  return characters.length <= maxChars ? words : `${characters.slice(0, maxChars).join("")}…`;
}
