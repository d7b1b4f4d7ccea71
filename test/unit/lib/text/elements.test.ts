import * as fc from "fast-check";
import { expect, test } from "vitest";

import { elementsIn, replaceElements } from "../../../../src/lib/text/elements.ts";

test("closed elements of a name are found, with what they hold and say", () => {
  const text = '<work by="a">one</work> <works>no</works> <work>two <b>c</b></work><work/ x></work> <work>open';

  expect(elementsIn(text, "work")).toEqual([
    { whole: '<work by="a">one</work>', attributes: ' by="a"', inner: "one" },
    { whole: "<work>two <b>c</b></work>", attributes: "", inner: "two <b>c</b>" },
  ]);
  expect(replaceElements(text, "work", ({ inner }) => `[${inner.length}]`)).toBe(
    "[3] <works>no</works> [12]<work/ x></work> <work>open",
  );
});

test("an opening that another tag cuts short is text", () => {
  expect(elementsIn('<work a="<work>in</work>', "work").map(({ whole }) => whole)).toEqual(["<work>in</work>"]);
});

test("what is replaced by itself is the text again", () => {
  const piece = fc.constantFrom("<a", "<a>", "<a b>", "</a>", "<ab>", ">", "<", " ", "x", "</a");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const text = pieces.join("");

      expect(replaceElements(text, "a", ({ whole }) => whole)).toBe(text);
      for (const { whole, inner } of elementsIn(text, "a")) {
        expect(whole.startsWith("<a") && whole.endsWith("</a>")).toBe(true);
        expect(inner).not.toContain("</a>");
      }
    }),
  );
});
