import * as fc from "fast-check";
import { expect, test } from "vitest";

import { limits } from "../../../src/protocol/limits.ts";
import { readJson } from "../../../src/protocol/mailbox-json.ts";
import { anyCharacter } from "../../support/any-character.ts";

/** A string in which each character is an escape. */
function escaped(text: string): string {
  const codes = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at).toString(16).padStart(4, "0"));
  return `"${codes.map((code) => `\\u${code}`).join("")}"`;
}

function nested(levels: number): string {
  return `${"[".repeat(levels)}${"]".repeat(levels)}`;
}

test("any JSON within the rules is read as JSON.parse reads it", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), fc.constantFrom(0, 2), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);

      const reading = readJson(text);

      const refused = {
        ok: false,
        reason: expect.stringMatching(/^the key (__proto__|constructor|prototype)$/) as string,
      };
      expect(reading).toEqual(reading.ok ? { ok: true, value: JSON.parse(text) as unknown } : refused);
    }),
  );
});

test("no text at all makes it throw, and what it accepts is what JSON.parse accepts", () => {
  const pieces = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    '"',
    "\\",
    ":",
    ",",
    " ",
    "\n",
    "a",
    "1",
    "-",
    "e",
    "null",
    '"k":',
    "\\u",
    "\u{feff}",
  );
  const texts = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.array(pieces, { maxLength: 40 }).map((all) => all.join("")),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const reading = readJson(text);

      expect(reading.ok ? reading.value : undefined).toEqual(reading.ok ? JSON.parse(text) : undefined);
    }),
    { numRuns: 2_000 },
  );
});

test("a key twice in the same object is found at any depth and however it is written", () => {
  const key = fc.string({ minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(key, fc.integer({ min: 0, max: 20 }), fc.boolean(), (name, depth, isEscaped) => {
      const again = isEscaped ? escaped(name) : JSON.stringify(name);
      const inner = `{${JSON.stringify(name)}:1,"other":[{${JSON.stringify(name)}:2}],${again} :3}`;

      const reading = readJson(`${'{"a":['.repeat(depth / 2)}${inner}${"]}".repeat(depth / 2)}`);

      expect(reading).toMatchObject({ ok: false, reason: expect.stringMatching(/twice$|^the key /) as string });
    }),
  );
});

test.for(["__proto__", "constructor", "prototype"])(
  "the key %s is refused, escaped or not, but is fine as a value",
  (key) => {
    expect(readJson(`{"a":{"${key}":1}}`)).toEqual({ ok: false, reason: `the key ${key}` });
    expect(readJson(`[{${escaped(key)}\n:1}]`)).toEqual({ ok: false, reason: `the key ${key}` });
    expect(readJson(`{"a":"${key}"}`)).toEqual({ ok: true, value: { a: key } });
  },
);

test("nesting is allowed to the limit and no further", () => {
  expect(readJson(nested(limits.depth))).toMatchObject({ ok: true });
  expect(readJson(nested(limits.depth + 1))).toMatchObject({ ok: false });
  expect(readJson(`[${nested(limits.depth - 1)},"${"[".repeat(100)}"]`)).toMatchObject({ ok: true });
});
