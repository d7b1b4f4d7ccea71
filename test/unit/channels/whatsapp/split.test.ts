import * as fc from "fast-check";
import { expect, test } from "vitest";

import { splitText } from "../../../../src/channels/whatsapp/outgoing/split.ts";

/** Visible text without blanks and fences. */
function inkOf(text: string): string {
  return text.replaceAll("```", "").replaceAll(/\s/g, "");
}

test("a short text is one part", () => {
  expect(splitText("a\n\n```\nb\n```", 100)).toEqual(["a\n\n```\nb\n```"]);
});

test("a long text is cut between paragraphs, and a paragraph between lines, then words", () => {
  expect(splitText("first paragraph\n\nsecond one\nits second line", 40)).toEqual([
    "first paragraph\n\nsecond one",
    "its second line",
  ]);
  expect(splitText("twenty-four characters...\n\ntwenty characters...\nmore", 45)).toEqual([
    "twenty-four characters...",
    "twenty characters...\nmore",
  ]);
  expect(splitText("words ".repeat(12).trim(), 40)).toEqual([
    "words words words words words",
    "words words words words words",
    "words words",
  ]);
});

test("code that is cut is closed and opened again", () => {
  const parts = splitText(`\`\`\`\n${"a line of code\n".repeat(6)}\`\`\`\nafter`, 50);

  expect(parts[0]).toBe("```\na line of code\na line of code\n```");
  expect(parts.at(-1)).toMatch(/^```\n(a line of code\n)+```\nafter$/);
});

test("whatever is cut, no part is too long, every fence is closed, and nothing is lost or torn", () => {
  const word = fc.oneof(fc.stringMatching(/^[a-z]{1,30}$/), fc.constantFrom("🦀🦀🦀", "👩‍👩‍👧", "x".repeat(150)));
  const line = fc.array(word, { maxLength: 12 }).map((words) => words.join(" "));
  const block = fc.oneof(
    line,
    fc.constant(""),
    fc.array(line, { maxLength: 6 }).map((lines) => ["```", ...lines, "```"].join("\n")),
  );
  fc.assert(
    fc.property(fc.array(block, { maxLength: 12 }), fc.integer({ min: 40, max: 200 }), (blocks, chars) => {
      const text = blocks.join("\n");

      const parts = splitText(text, chars);

      for (const part of text.length > chars ? parts : []) {
        expect(part.length).toBeLessThanOrEqual(chars);
        expect(part.split("\n").filter((one) => one.startsWith("```")).length % 2).toBe(0);
        expect(part.isWellFormed()).toBe(true);
        expect(part.trim()).not.toBe("");
      }
      expect(parts.map(inkOf).join("")).toBe(inkOf(text));
    }),
    { numRuns: 500 },
  );
});
