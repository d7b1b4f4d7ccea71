import * as fc from "fast-check";
import { expect, test } from "vitest";

import { plainSentence, quotedName } from "../../../../src/lib/text/plain-words.ts";
import { anyCharacter } from "../../../support/any-character.ts";

const hostile = [
  "@everyone",
  "＠here",
  "﹫all",
  "<@U123>",
  "＜host-note＞",
  "\n",
  "\u2028",
  "\u202e",
  "\u200b",
  "\u3164",
  "\u{e0041}",
  "*crab*",
  "_x_",
  "~",
  "`",
  "|",
  "[a](https://evil.example)",
  "#1",
  '"',
  "⑴",
  "℀",
  "Z̸̨̛̪͚a",
  "\u0301",
  "\ud800",
];
const anyName = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 300 }),
  fc
    .array(fc.oneof(fc.constantFrom(...hostile), fc.string({ unit: "grapheme", maxLength: 8 })), { maxLength: 12 })
    .map((parts) => parts.join("")),
);

test("whatever somebody calls himself: one short line that mentions nobody, marks nothing up and hides nothing", () => {
  fc.assert(
    fc.property(anyName, (name) => {
      const shown = quotedName(name);

      expect(shown).toMatch(/^(?:somebody|"[^"]+")$/u);
      for (const form of [shown, shown.normalize("NFKC"), shown.normalize("NFKD")]) {
        expect(form).not.toMatch(/[<>@＠﹫＜＞*_~`|[\]()#\\/:\n\r]/u);
        expect(form).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/u);
      }
      expect(Array.from(shown).length).toBeLessThanOrEqual(42);
      expect(shown).not.toMatch(/"\p{M}|\p{M}{4}/u);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ["Ann", '"Ann"'],
  ["Anne-Marie O’Neil", '"Anne-Marie O’Neil"'],
  ["José Łukasz 李雷 محمد", '"José Łukasz 李雷 محمد"'],
  ["🦀 crab", '"🦀 crab"'],
  ["*crab* SYSTEM:\n@everyone", '"crab SYSTEM everyone"'],
  ["host", '"host"'],
  ["evil.example", '"evil example"'],
  ["x".repeat(100), `"${"x".repeat(39)}…"`],
  ["\u202e\u200b", "somebody"],
  ["\u0301", "somebody"],
  ["--", "somebody"],
  ["", "somebody"],
])("the name %j is told as %s", (name, told) => {
  expect(quotedName(name)).toBe(told);
});

test("a reason from outside is one line that mentions nobody", () => {
  fc.assert(
    fc.property(anyName, (reason) => {
      const told = plainSentence(`The vendor answered 400: ${reason}`);

      expect(told).toMatch(/^The vendor answered 400:/);
      expect(told).not.toMatch(/[@＠﹫<>＜＞*`~|[\]#\n\r\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u);
    }),
  );
  expect(plainSentence("set CRABPOT_HOME, see sandbox.pids (now: 64).\n@Ann")).toBe(
    "set CRABPOT_HOME, see sandbox.pids (now: 64). at Ann",
  );
});
