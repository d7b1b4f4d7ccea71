import * as fc from "fast-check";
import { expect, test } from "vitest";

import { unifiedDiff } from "../../../../src/lib/text/unified-diff.ts";

/** Follows a diff without looking at more of the text before than it says. */
function apply(before: string, diff: string): string {
  const old = before.split("\n");
  const result: string[] = [];
  let at = 0;
  for (const hunk of diff.split(/\n?(?=^@@ )/m).filter((part) => part !== "")) {
    const [head = "", ...lines] = hunk.split("\n");
    const [, from = "0", count = "0"] = /^@@ -(\d+),(\d+) /.exec(head) ?? [];
    const start = Number(from) - (count === "0" ? 0 : 1);
    const stays = lines.filter((line) => !line.startsWith("+")).map((line) => line.slice(1));
    expect(old.slice(start, start + Number(count))).toEqual(stays);
    result.push(...old.slice(at, start), ...lines.filter((line) => !line.startsWith("-")).map((line) => line.slice(1)));
    at = start + stays.length;
  }
  return [...result, ...old.slice(at)].join("\n");
}

function many(word: string): string {
  return Array.from({ length: 30_000 }, (_, at) => `${word} ${at}\n`).join("");
}

const line = fc.constantFrom("a", "b", "c", "", "- d", "+ e");
const text = fc.array(line, { maxLength: 30 }).map((lines) => lines.map((one) => `${one}\n`).join(""));

test("whoever follows the diff comes from one text to the other, whatever they are", () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      expect(apply(before, unifiedDiff(before, after))).toBe(after);
    }),
  );
});

test("it shows what goes, what comes, and three lines around it", () => {
  const before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";

  expect(unifiedDiff(before, before.replace("5\n", "five\n").replace("12\n", "12\n13\n"))).toBe(
    "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n@@ -10,3 +10,4 @@\n 10\n 11\n 12\n+13",
  );
  expect(unifiedDiff("", "new\n")).toBe("@@ -0,0 +1,1 @@\n+new");
  expect(unifiedDiff("old\n", "")).toBe("@@ -1,1 +0,0 @@\n-old");
  expect(unifiedDiff("same\n", "same\n")).toBe("");
});

test("a missing end of the last line is a change, and is said", () => {
  expect(unifiedDiff("a\n", "a")).toBe("@@ -1,1 +1,1 @@\n-a\n+a\n\\ No newline at end of file");
});

test("texts of many lines that share nothing take no time worth speaking of", () => {
  const [head, ...lines] = unifiedDiff(many("a"), many("b")).split("\n");

  expect([head, lines[0], lines.at(-1), lines.length]).toEqual(["@@ -1,30000 +1,30000 @@", "-a 0", "+b 29999", 60_000]);
});
