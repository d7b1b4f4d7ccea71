import * as fc from "fast-check";
import { expect, test } from "vitest";

import { allowedBy } from "../../../../src/rights/approvals/thumbs.ts";

const colours = ["", "🏻", "🏼", "🏽", "🏾", "🏿"];
const asPicture = "\u{FE0F}";

test("a thumb of any colour, up or down, is an answer", () => {
  for (const colour of colours) {
    expect([allowedBy(`👍${colour}`), allowedBy(`👎${colour}`)]).toEqual([true, false]);
    expect([allowedBy(`👍${colour}${asPicture}`), allowedBy(`👎${colour}${asPicture}`)]).toEqual([true, false]);
  }
});

test("nothing else is, whatever it looks like or holds", () => {
  const thumbs = colours.flatMap((colour) => [`👍${colour}`, `👎${colour}`]);
  const thumb = fc.constantFrom(...thumbs);
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), thumb, fc.boolean(), (text, beside, isBefore) => {
      const said = text === "" || text === asPicture || colours.includes(text) ? "x" : text;
      expect(allowedBy(isBefore ? `${said}${beside}` : `${beside}${said}`)).toBeUndefined();
      expect(thumbs.includes(said.replace(asPicture, ""))).toBe(allowedBy(said) !== undefined);
    }),
  );
  const others = [
    "",
    "👌",
    "✅",
    "👍👍",
    "👍👎",
    "👍 ",
    "yes",
    "+1",
    "\u{200D}👍",
    "👍\u{200D}🟫",
    "🫱",
    "\u{1F44D}\u{1F3FA}",
  ];
  for (const emoji of others) expect(allowedBy(emoji)).toBeUndefined();
});
