import * as fc from "fast-check";
import { expect, test } from "vitest";

import { datesIn } from "../../../../src/abilities/memory/text/dates.ts";
import { stem } from "../../../../src/abilities/memory/text/stem.ts";
import { isMostlyHan, queryTermsOf, termsOf } from "../../../../src/abilities/memory/text/terms.ts";
import { anyCharacter } from "../../../support/any-character.ts";

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

test("every term that a query has of a text is a term of the text, but for its dates", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), (text) => {
      const terms = termsOf(`${text} ${datesIn(text)}`);
      for (const term of queryTermsOf(text)) expect(terms.has(term)).toBe(true);
    }),
    { examples: [["㋀"], ["5月"]] },
  );
});

const stubborn: readonly (readonly [string, string])[] = [
  ["one letter", "a"],
  ["emoji", "👩‍👩‍👧"],
  ["combining marks", "\u0301\u0300\u0323"],
  ["a letter with marks", "e\u0301\u0300"],
  ["Chinese", "水"],
  ["Arabic", "سلام"],
  ["turns of direction", "\u202Ea\u202C"],
  ["lone surrogates", "\uD83D"],
  ["a ligature that becomes eighteen letters", "\uFDFA"],
  ["blanks", " "],
  ["apostrophes", "a'"],
  ["different words", "0"],
];

/** Indexed characters of a text. */
const lookedAt = 20_000;

test.each(stubborn)("of a megabyte of %s only the beginning is looked at, in short terms and few", (name, piece) => {
  const isDifferent = name === "different words";
  const text = isDifferent
    ? Array.from({ length: 150_000 }, (_, at) => `w${at}`).join(" ")
    : piece.repeat(Math.ceil(1_000_000 / piece.length));
  const terms = termsOf(text);

  expect(terms).toEqual(termsOf(text.slice(0, lookedAt)));
  expect(isMostlyHan(text)).toBe(isMostlyHan(text.slice(0, lookedAt)));
  expect(terms.size).toBeLessThanOrEqual(isDifferent ? 4_000 : 10);
  expect(Math.max(0, ...[...terms.keys()].map((term) => term.length))).toBeLessThanOrEqual(40);
  expect(queryTermsOf(text).length).toBeLessThanOrEqual(64);
});

test("any text with such runs in it gives terms of at most 40 characters, of its beginning only", () => {
  const run = fc.tuple(fc.constantFrom(...stubborn.map(([, piece]) => piece)), fc.integer({ min: 1, max: 3_000 }));
  const text = fc.array(
    fc.oneof(
      fc.string({ unit: anyCharacter }),
      run.map(([piece, times]) => piece.repeat(times)),
    ),
  );
  fc.assert(
    fc.property(text, (parts) => {
      const whole = parts.join(" ");
      const terms = termsOf(whole);

      expect(terms).toEqual(termsOf(whole.slice(0, lookedAt)));
      for (const term of terms.keys()) expect(term.length).toBeLessThanOrEqual(40);
    }),
  );
});

test.for([
  ["3月5日发生了什么", ["march", "5"]],
  ["三月五号我们去哪了", ["march", "5"]],
  ["十二月二十五日", ["decemb", "25"]],
  ["５月份的旅行", ["mai"]],
  ["二十一月", []],
  ["what was on 2026-03-05?", ["march", "5"]],
  ["2026/13/05", ["05"]],
] as const)("a query for a day looks for it as it stands before memories: %s", ([query, terms]) => {
  const months = /^(?:januari|februari|march|april|mai|june|juli|august|septemb|octob|novemb|decemb)$/;
  const found = queryTermsOf(query);
  expect(found).toEqual(expect.arrayContaining([...terms]));
  expect(found.some((term) => months.test(term))).toBe(terms.some((term) => months.test(term)));
});
