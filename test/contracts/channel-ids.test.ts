import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { channelDefinitions } from "../../src/channels/catalog.ts";

/** Ids as people write them and as platforms do, and what is neither. */
const ids = fc.oneof(
  fc.stringMatching(/^\+?\d{1,16}(?:@lid|@s\.whatsapp\.net)?$/),
  fc.stringMatching(/^[+\d\s()-]{1,20}$/),
  fc.string({ minLength: 1, maxLength: 40 }),
);

describe.each(channelDefinitions.map((channel) => [channel.name, channel] as const))("ids on %s", (_name, channel) => {
  const canonical = (id: string): string => channel.canonicalId?.(id) ?? id;
  const written = (id: string): string | undefined => channel.writtenId?.(id);
  const isGood = (id: string): boolean => channel.judgeSender?.(id) === undefined;

  test("one that is written differently has one form that messages carry, and back", () => {
    fc.assert(
      fc.property(ids, (id) => {
        expect(canonical(canonical(id))).toBe(canonical(id));
        expect(isGood(canonical(id))).toBe(isGood(id) || isGood(canonical(id)));
        const people = written(canonical(id));
        expect(canonical(people ?? id)).toBe(canonical(id));
        const isWritten = canonical(id) !== id;
        expect(isWritten && (!isGood(id) || people !== id)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  test("none with white space or other letters around it is taken for another one", () => {
    fc.assert(
      fc.property(ids, fc.constantFrom(" ", "\u200b", "\u202e", "x", "\n", "０"), (id, more) => {
        fc.pre(isGood(id));
        expect([canonical(`${id}${more}`), canonical(`${more}${id}`)]).not.toContain(canonical(id));
      }),
    );
  });
});
