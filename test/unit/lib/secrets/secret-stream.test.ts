import * as fc from "fast-check";
import { expect, test } from "vitest";

import { createReplyPatterns, createReplyRedaction, redactionMark } from "../../../../src/delivery/redact.ts";
import { SecretStream } from "../../../../src/lib/secrets/secret-stream.ts";

const secret = "sk-canary-0123456789/abc";
const secrets = [secret, "aaaaaaaaab", "pass word 77"];
const redact = createReplyRedaction(secrets);
const patterns = createReplyPatterns(secrets);

function newStream(leastHeld = 1): SecretStream {
  return new SecretStream(patterns, { replacement: redactionMark, leastHeld });
}

function passOn(
  pieces: readonly string[],
  leastHeld = 1,
): { readonly text: string; readonly steps: readonly string[] } {
  const stream = newStream(leastHeld);
  const steps = [...pieces.map((piece) => stream.add(piece)), stream.end()];
  return { text: steps.join(""), steps };
}

test("a secret that comes character by character is not shown at any moment", () => {
  const { steps } = passOn(Array.from(`the key is ${secret} and that is all`));

  let shown = "";
  for (const step of steps) {
    shown += step;
    expect(shown).not.toContain("sk");
  }
  expect(shown).toBe("the key is [redacted] and that is all");
});

test("what only began like a secret is shown as soon as it goes on in another way", () => {
  const stream = newStream();

  expect(stream.add("sk-can")).toBe("");
  expect(stream.add("did ")).toMatch(/^sk-candi/);
});

test("of words that have nothing of a secret no more than the end is held", () => {
  const stream = newStream();

  expect(stream.add("Hello, you two out there")).toMatch(/^Hello, you two out/);
});

test("with a longer beginning to be held, the end of what is printed is shown at once, and of a secret its first few letters", () => {
  const { steps } = passOn(["name: n", "\n", "key: sk-", "canary-0123456789/abc\n"], 5);

  expect(steps).toEqual(["name: n", "\n", "key: sk-", "[redacted]\n", ""]);
});

const forms = [
  secret,
  Buffer.from(secret).toString("hex"),
  Buffer.from(`x${secret}`).toString("base64"),
  Array.from(secret).join(" "),
  Array.from(secret).join("\u200b"),
  Array.from(secret).toReversed().join(""),
  "aaaaaaaaab",
  "pass word 77",
];
const fragment = fc.oneof(
  fc.constantFrom(...forms),
  fc.constantFrom(...forms).chain((form) => fc.nat(form.length).map((cut) => form.slice(0, cut))),
  fc.constantFrom(...forms).chain((form) => fc.nat(form.length).map((cut) => form.slice(cut))),
  fc.string({ maxLength: 20 }),
  fc.constantFrom("a", "aa", "é", "…", "—".repeat(6), " ".repeat(17), "😀"),
);
const textInPieces = fc
  .array(fragment, { maxLength: 8 })
  .map((fragments) => fragments.join("").toWellFormed())
  .chain((text) =>
    fc.array(fc.nat(text.length), { maxLength: 6 }).map((cuts) => {
      const places = [0, ...cuts.toSorted((one, other) => one - other), text.length];
      return places.slice(1).map((place, index) => text.slice(places[index], place));
    }),
  );

test("however a text is cut into pieces, in the end the same was taken out of it as out of the whole", () => {
  fc.assert(
    fc.property(textInPieces, (pieces) => {
      expect(passOn(pieces).text).toBe(redact(pieces.join("")).text);
    }),
    { numRuns: 2_000 },
  );
});
