/** Letters that look like Latin ones, Cyrillic and Greek, with what they look like. */
const lookalikes = new Map(
  [
    ["аеорсхуіјѕԁԛԝһкмтвнАВЕКМНОРСТХУІЈЅ", "aeopcxyijsdqwhkmtbhABEKMHOPCTXYIJS"],
    ["αεικνορτυχωΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aeiknoptuxwABEZHIKMNOPTYX"],
  ].flatMap(([from = "", to = ""]) => Array.from(from, (letter, place) => [letter, to[place] ?? letter] as const)),
);

/**
 * Returns a text as a reader sees it: without invisible characters, in one form of each letter, look-alikes in Latin.
 * For judging only, never for storing.
 */
export function plainForm(text: string): string {
  const seen = text.normalize("NFKC").replaceAll(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, "");
  return seen.replaceAll(/[\p{L}\p{M}]+/gu, (word) =>
    /\p{Script=Latin}/u.test(word) && /[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(word)
      ? Array.from(word, (letter) => lookalikes.get(letter) ?? letter).join("")
      : word,
  );
}
