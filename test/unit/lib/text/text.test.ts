import * as fc from "fast-check";
import { expect, test } from "vitest";

import { cutMiddle } from "../../../../src/lib/text/cut-middle.ts";
import { escapeAttribute, escapeText, unescapeText } from "../../../../src/lib/text/markup.ts";
import { estimateTextTokens } from "../../../../src/lib/text/text-tokens.ts";
import { anyCharacter } from "../../../support/any-character.ts";

const anyText = fc.string({ unit: anyCharacter, maxLength: 300 });

test("escaped text reads back as it was and holds no markup", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      for (const escaped of [escapeText(text), escapeAttribute(text)]) {
        expect(unescapeText(escaped)).toBe(text.toWellFormed());
        expect(escaped).not.toMatch(/[<>"'\u202a-\u202e]/);
        expect(escaped).not.toContain("\u0000");
      }
      expect(escapeAttribute(text)).not.toMatch(/[\n\t]/);
    }),
  );
});

test("references that nothing here writes are left alone", () => {
  expect(unescapeText("&copy; &#xFFFFFF; &#38; &amp;lt;")).toBe("&copy; &#xFFFFFF; &#38; &lt;");
});

test("a cut text keeps its ends, counts what is gone, and splits no character", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), fc.integer({ min: 2, max: 100 }), (text, maxChars) => {
      const { head, tail, omitted } = cutMiddle(text, maxChars);

      expect(head.length + omitted + tail.length).toBe(text.length);
      expect(head.length + tail.length).toBeLessThanOrEqual(maxChars);
      expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
      expect(`${head}|${tail}`.isWellFormed()).toBe(text.isWellFormed());
      expect(omitted === 0).toBe(text.length <= maxChars);
    }),
  );
});

test("the estimate of a whole is never more than that of its parts", () => {
  fc.assert(
    fc.property(anyText, anyText, (first, second) => {
      const parts = estimateTextTokens(first) + estimateTextTokens(second);

      expect(estimateTextTokens(first + second)).toBeLessThanOrEqual(parts);
    }),
  );
});

// About what vendors' tokenizers make of such texts.
test.each([
  ["English prose", "The quick brown fox jumps over the lazy dog and runs away. ", 14],
  ["code", "const total = items.reduce((sum, item) => sum + item.price, 0);", 19],
  ["hexadecimal", "9f86d081884c7d659a2feaa0c55ad015", 22],
  ["Russian", "Съешь ещё этих мягких французских булок", 20],
  ["Chinese", "敏捷的棕色狐狸跳过了懒狗", 16],
])("the estimate of %s is on the high side, but not absurd", (_kind, text, tokens) => {
  expect(estimateTextTokens(text)).toBeGreaterThanOrEqual(tokens);
  expect(estimateTextTokens(text)).toBeLessThanOrEqual(tokens * 2.5);
});
