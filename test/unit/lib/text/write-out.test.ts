import * as fc from "fast-check";
import { expect, test } from "vitest";

import { writeOut, sizeOf } from "../../../../src/lib/text/write-out.ts";

const same = [
  "git push",
  "git push origin main && echo done",
  "print('hello')",
  "def f():\n    if x:\n        return 1",
  "a\n\nb",
  "a\n\n\nb",
  " context\n-old\n+new\n \n more",
  'x = {\n  "a": [1, 2],\n}',
  "naïve café Ångström",
  "Grüße, žluťoučký kůň",
  "Привет, мир",
  "Ελλάδα και Κύπρος",
  "日本語のテキスト",
  "東京Tower と iPhoneケース",
  "中文Windows系統",
  "한국어 text와 KBS뉴스",
  "שלום עולם",
  "مرحبا بالعالم",
  "नमस्ते दुनिया",
  "สวัสดี",
  "👍🏿 👩‍🚀 ❤️ 1️⃣ 🏳️‍🌈",
  "€ 5 ± 1 → ∞ «x» “y” ‹z›",
  "`code` and ``more``",
  "a  b",
  "/srv/данные/файл.txt",
];

test.each(same)("%j is shown as it is", (text) => {
  expect(writeOut(text)).toBe(text);
});

test.each([
  ["a\u2800b", "a⟨U+2800⟩b"],
  ["\u{1fc00}\ufe0f", "⟨U+1FC00⟩⟨U+FE0F⟩"],
  ["a\u00a0b", "a⟨U+00A0⟩b"],
  ["a\u1680b", "a⟨U+1680⟩b"],
  ["a\u2003b", "a⟨U+2003⟩b"],
  ["a\u2007b", "a⟨U+2007⟩b"],
  ["a\u202fb", "a⟨U+202F⟩b"],
  ["a\u205fb", "a⟨U+205F⟩b"],
  ["a\u3000b", "a⟨U+3000⟩b"],
  ["a\ufffcb", "a⟨U+FFFC⟩b"],
  ["a\u{1d159}b", "a⟨U+1D159⟩b"],
  ["a\u{16fe4}b", "a⟨U+16FE4⟩b"],
  ["a\u115fb", "a⟨U+115F⟩b"],
  ["a\u1160b", "a⟨U+1160⟩b"],
  ["a\u3164b", "a⟨U+3164⟩b"],
  ["a\uffa0b", "a⟨U+FFA0⟩b"],
  ["a\u034fb", "a⟨U+034F⟩b"],
  ["a\u17b4b", "a⟨U+17B4⟩b"],
  ["a\u180eb", "a⟨U+180E⟩b"],
  ["a\u00adb", "a⟨U+00AD⟩b"],
  ["a\u061cb", "a⟨U+061C⟩b"],
  ["a\u200bb", "a⟨U+200B⟩b"],
  ["a\u200db", "a⟨U+200D⟩b"],
  ["a\u200eb", "a⟨U+200E⟩b"],
  ["a\u202eb", "a⟨U+202E⟩b"],
  ["a\u2028b", "a⟨U+2028⟩b"],
  ["a\u2029b", "a⟨U+2029⟩b"],
  ["a\u2060b", "a⟨U+2060⟩b"],
  ["a\u2066b", "a⟨U+2066⟩b"],
  ["a\ufeffb", "a⟨U+FEFF⟩b"],
  ["a\ufe0fb", "a⟨U+FE0F⟩b"],
  ["a\u{e0041}b", "a⟨U+E0041⟩b"],
  ["a\u{e0101}b", "a⟨U+E0101⟩b"],
  ["a\u001b[2Jb", "a⟨U+001B⟩[2Jb"],
  ["a\u0000b", "a⟨U+0000⟩b"],
  ["a\u009bb", "a⟨U+009B⟩b"],
  ["a\r\nb", "a⟨U+000D⟩\nb"],
  ["a\u000bb", "a⟨U+000B⟩b"],
  ["a\ud800b", "a⟨U+D800⟩b"],
  ["a\ue000b", "a⟨U+E000⟩b"],
  ["a\u0378b", "a⟨U+0378⟩b"],
  ["\tmake", "⟨tab⟩make"],
  ["a\t\t\tb", "a⟨3 tabs⟩b"],
  ["a\u200b\u200b\u200bb", "a⟨3 × U+200B⟩b"],
  [`ls${" ".repeat(1_200)}; rm -rf x`, "ls⟨1,200 blanks⟩; rm -rf x"],
  [`a${" ".repeat(9)}b`, "a⟨9 blanks⟩b"],
  [`${" ".repeat(17)}b`, "⟨17 blanks⟩b"],
  ["a ", "a⟨1 blank⟩"],
  ["a   \nb", "a⟨3 blanks⟩\nb"],
  ["  \nb", "⟨2 blanks⟩\nb"],
  [`ls${"\n".repeat(37)}; rm -rf x`, "ls\n⟨36 empty lines⟩\n; rm -rf x"],
  ["a\n\n\n\nb", "a\n⟨3 empty lines⟩\nb"],
  ["a```b", "a⟨3 × U+0060⟩b"],
  ["a`````b", "a⟨5 × U+0060⟩b"],
  ["⟨U+2800⟩", "⟨U+27E8⟩U+2800⟨U+27E9⟩"],
  ["git push оrigin main", "git push оrigin⟨mixed letters: о U+043E⟩ main"],
  ["mаin", "mаin⟨mixed letters: а U+0430⟩"],
  ["pαypal", "pαypal⟨mixed letters: α U+03B1⟩"],
  ["раypal", "раypal⟨mixed letters: р U+0440, а U+0430⟩"],
  ["cօm", "cօm⟨mixed letters: օ U+0585⟩"],
  ["Ꭺpple", "Ꭺpple⟨mixed letters: Ꭺ U+13AA⟩"],
  ["αб", "αб⟨mixed letters: Cyrillic, Greek⟩"],
  ["сору x", "сору⟨looks Latin, is Cyrillic⟩ x"],
  ["ΑΒ", "ΑΒ⟨looks Latin, is Greek⟩"],
  ["a\u0301\u0301\u0301\u0301b", "a\u0301\u0301\u0301⟨U+0301⟩b"],
  [" \u0301x", " ⟨U+0301⟩x"],
])("%j is shown as %s", (text, shown) => {
  expect(writeOut(text)).toBe(shown);
});

const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        " ",
        "\n",
        "\t",
        "`",
        "⟨",
        "⟩",
        "a",
        "о",
        "0",
        "U+2800",
        "3 × U+200B",
        "2 blanks",
        "3 empty lines",
      ),
      fc.constantFrom(
        "mixed letters: о U+043E",
        "\u200b",
        "\u200d",
        "\u2800",
        "\ufe0f",
        "👩",
        "\u0301",
        "\ud800",
        "\r",
      ),
      fc.string({ unit: "binary", maxLength: 3 }),
    ),
    { maxLength: 40 },
  )
  .map((pieces) => pieces.join(""));

test("different texts are shown differently, and nothing in them hides", () => {
  const known = new Map<string, string>();
  fc.assert(
    fc.property(hostile, (text) => {
      const shown = writeOut(text);
      expect(known.get(shown) ?? text).toBe(text);
      known.set(shown, text);
      const pictures = shown.replaceAll(
        /\p{Extended_Pictographic}[\p{Emoji_Modifier}\ufe0e\ufe0f\u200d]*|[0-9#*]\ufe0f/gv,
        "",
      );
      expect(pictures).not.toMatch(/[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]--[\n\x20]]|`{3}| {17}|\n{4}/v);
    }),
    { numRuns: 3_000 },
  );
});

test("a change of one character changes what is shown", () => {
  fc.assert(
    fc.property(hostile, fc.nat(), fc.string({ unit: "binary", minLength: 0, maxLength: 1 }), (text, at, one) => {
      const characters = Array.from(text);
      fc.pre(characters.length > 0);
      const other = characters.with(at % characters.length, one).join("");
      expect(writeOut(other) === writeOut(text)).toBe(other === text);
    }),
    { numRuns: 3_000 },
  );
});

test("the size of a text is told in characters and lines", () => {
  expect(sizeOf("a")).toBe("1 character in 1 line");
  expect(sizeOf(`${"x".repeat(1_199)}\n`)).toBe("1,200 characters in 2 lines");
});
