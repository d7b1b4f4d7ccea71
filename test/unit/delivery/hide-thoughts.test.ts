import * as fc from "fast-check";
import { expect, test } from "vitest";

import { hideThoughts } from "../../../src/delivery/hide-thoughts.ts";

test.each([
  ["<internal>x\ny</internal>Hi", "Hi"],
  ["  Hi there \n", "Hi there"],
  ["<internal>only this</internal>", ""],
  ["  \n ", ""],
  ["a <INTERNAL>b</Internal> c", "a  c"],
  ["<internal>a<internal>b</internal>c</internal>d", "d"],
  ["shown <internal>never closed", "shown"],
  ["shown</internal> still", "shown still"],
  ["<internals>kept</internals>", "<internals>kept</internals>"],
])("of the answer %j people see %j", (answer, shown) => {
  expect(hideThoughts(answer)).toBe(shown);
});

test("what is inside is never shown, whatever it is", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (before, thought, after) => {
      const shown = hideThoughts(`${before}<internal>SECRET${thought.replaceAll("<", "")}</internal>${after}`);
      expect(shown).not.toContain("SECRET");
    }),
  );
});
