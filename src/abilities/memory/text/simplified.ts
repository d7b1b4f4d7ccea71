import characters from "opencc-js/dict/TSCharacters";

const hanCharacter = /\p{Script=Han}/gu;
let simplified: ReadonlyMap<string, string> | undefined;

/**
 * A text with its traditional Chinese characters in their simplified forms (OpenCC's table of characters): 記憶體 → 记忆体.
 * Who writes 後天 and who asks for 后天 mean the same. Where several traditional characters have one simplified form, that
 * is one for all of them. The length in characters stays.
 */
export function toSimplified(text: string): string {
  return text.replaceAll(hanCharacter, (character) => {
    simplified ??= readTable(characters);
    return simplified.get(character) ?? character;
  });
}

/** `從 从|後 后|…`; where there are several simplified forms, the usual one comes first. */
function readTable(table: string): ReadonlyMap<string, string> {
  return new Map(
    table.split("|").map((entry) => {
      const [traditional = "", usual = ""] = entry.split(" ");
      return [traditional, usual];
    }),
  );
}
