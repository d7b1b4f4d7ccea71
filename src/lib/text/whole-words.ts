/** Does one of these, such as the name of somebody, stand in the text by itself and not within another word? */
export function hasWholeWord(text: string, words: readonly string[]): boolean {
  return words.some((one) => new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(one)}(?![\\p{L}\\p{N}])`, "u").test(text));
}
