import * as fc from "fast-check";
import { expect, test } from "vitest";

import { stem } from "../../../src/memory/text/stem.ts";
import { isMostlyHan, queryTermsOf, termsOf } from "../../../src/memory/text/terms.ts";

test.each([
  ["caresses", "caress"],
  ["ponies", "poni"],
  ["agreed", "agre"],
  ["plastered", "plaster"],
  ["motoring", "motor"],
  ["sized", "size"],
  ["hopping", "hop"],
  ["falling", "fall"],
  ["filing", "file"],
  ["happy", "happi"],
  ["relational", "relat"],
  ["vietnamization", "vietnam"],
  ["triplicate", "triplic"],
  ["hopefulness", "hope"],
  ["adjustment", "adjust"],
  ["adoption", "adopt"],
  ["probate", "probat"],
  ["rate", "rate"],
  ["controll", "control"],
  ["yoga", "yoga"],
])("%s has the stem %s", (word, expected) => {
  expect(stem(word)).toBe(expected);
});

test("words are found in other forms, without accents, and stop words are not terms", () => {
  expect([...termsOf("The Cafés were connecting people's dogs").keys()]).toEqual(["cafe", "connect", "peopl", "dog"]);
  expect(queryTermsOf("What was the café of a dog?")).toEqual(["cafe", "dog"]);
});

test("Chinese is kept by characters and pairs, and looked for by pairs", () => {
  expect([...termsOf("我喜欢").keys()]).toEqual(["我", "我喜", "喜", "喜欢", "欢"]);
  expect(queryTermsOf("我喜欢")).toEqual(["我喜", "喜欢"]);
  expect(queryTermsOf("茶")).toEqual(["茶"]);
  expect(isMostlyHan("我喜欢 tea")).toBe(true);
  expect(isMostlyHan("I like tea 茶")).toBe(false);
});

test("every term that a query has of a text is a term of the text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), (text) => {
      const terms = termsOf(text);
      for (const term of queryTermsOf(text)) expect(terms.has(term)).toBe(true);
    }),
  );
});

test.each([
  ["one letter", "a"],
  ["emoji", "👩‍👩‍👧"],
  ["combining marks", "\u0301\u0300\u0323"],
  ["Chinese", "水"],
  ["blanks", " "],
  ["apostrophes", "a'"],
])("a megabyte of %s takes little time and gives few terms", (_name, piece) => {
  const text = piece.repeat(Math.ceil(1_000_000 / piece.length));
  const begun = performance.now();
  const terms = termsOf(text);
  queryTermsOf(text);

  expect(performance.now() - begun).toBeLessThan(1_000);
  expect(terms.size).toBeLessThan(10);
});
