import * as fc from "fast-check";
import { expect, test } from "vitest";

import { columnsOf, wrapLine } from "../../../../src/lib/text/columns.ts";

test.each([
  ["hello", 5],
  ["漢字", 4],
  ["ｆｕｌｌ", 8],
  ["한글", 4],
  ["e\u0301", 1],
  ["👩‍👩‍👧", 2],
  ["🇩🇪", 2],
  ["❤️", 2],
  ["👍🏽", 2],
  ["© ½ €", 5],
])("%j takes %i columns", (text, columns) => {
  expect(columnsOf(text)).toBe(columns);
});

test.each([
  ["the quick brown fox", 10, ["the quick", "brown fox"]],
  ["exactly ten", 11, ["exactly ten"]],
  ["a b", 1, ["a", "b"]],
  ["  code stays  apart", 14, ["  code stays", "apart"]],
  ["see https://example.org/long now", 12, ["see https://", "example.org/", "long now"]],
  ["漢字漢字、漢字", 9, ["漢字漢", "字、漢字"]],
  ["👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", 5, ["👩‍👩‍👧👩‍👩‍👧", "👩‍👩‍👧"]],
  ["", 10, [""]],
])("%j in %i columns", (line, columns, expected) => {
  expect(wrapLine(line, { first: columns, next: columns })).toEqual(expected);
});

test("the first line may have less room than the others, even none", () => {
  expect(wrapLine("one two three", { first: 4, next: 9 })).toEqual(["one", "two three"]);
  expect(wrapLine("one two", { first: 0, next: 9 })).toEqual(["", "one two"]);
});

test("no line is too long, and nothing but blanks is lost", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "é", " ", "漢", "👍🏽", "、", ".") });
  fc.assert(
    fc.property(text, fc.integer({ min: 4, max: 12 }), (line, columns) => {
      const lines = wrapLine(line, { first: columns, next: columns });

      for (const one of lines) expect(columnsOf(one)).toBeLessThanOrEqual(columns);
      expect(lines.join("").replaceAll(" ", "")).toBe(line.replaceAll(" ", ""));
    }),
  );
});
