import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { findInAnswers, SecretMask } from "../../../../src/sandbox/egress/secrets/secret-mask.ts";

const secret = "tok-5f0e1d2c3b4a9";

/** The pieces that come out of a mask for the pieces that go in. */
async function pieces(
  input: readonly Buffer[],
  values: readonly string[] = [secret],
): Promise<{ out: Buffer[]; found: number }> {
  let found = 0;
  const out: Buffer[] = [];
  const mask = new SecretMask(findInAnswers(values), () => void (found += 1));
  await pipeline(Readable.from(input), mask.stream(), async (stream: AsyncIterable<Buffer>) => {
    for await (const piece of stream) out.push(piece);
  });
  return { out, found };
}

/** Output after the last piece and before the end, as when the server pauses. */
async function beforeEnd(input: readonly Buffer[]): Promise<number> {
  const stream = new SecretMask(findInAnswers([secret]), () => undefined).stream();
  let size = 0;
  stream.on("data", (piece: Buffer) => void (size += piece.length));
  for (const piece of input) await new Promise((done) => stream.write(piece, done));
  stream.destroy();
  return size;
}

/** Texts that look like the secret for a while, and those that do not at all. */
const texts = fc
  .array(
    fc.oneof(
      fc.nat(secret.length).map((length) => secret.slice(0, length)),
      fc.constant(secret),
      fc.constant(Buffer.from(secret).toString("hex")),
      fc.constant(Buffer.from(secret).toString("base64")),
      fc.string({ maxLength: 30 }),
    ),
    { maxLength: 40 },
  )
  .map((parts) => Buffer.from(parts.join("")));

function cut(text: Buffer, sizes: readonly number[]): Buffer[] {
  const parts: Buffer[] = [];
  let at = 0;
  for (const size of sizes) {
    if (at >= text.length) break;
    parts.push(text.subarray(at, at + size));
    at += size;
  }
  if (at < text.length) parts.push(text.subarray(at));
  return parts;
}

const sizes = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 60 });

test("however an answer is cut into pieces, the same bytes come out, as many as went in, and no form of the secret", async () => {
  await fc.assert(
    fc.asyncProperty(texts, sizes, async (text, chosen) => {
      const whole = Buffer.concat((await pieces([text])).out);
      const { out } = await pieces(cut(text, chosen));
      const masked = Buffer.concat(out);

      expect(masked.equals(whole)).toBe(true);
      expect(masked.length).toBe(text.length);
      expect(masked.toString().toLowerCase()).not.toContain(secret);
      expect(masked.toString()).not.toContain(Buffer.from(secret).toString("hex"));
      expect(masked.toString()).not.toContain(Buffer.from(secret).toString("base64").slice(0, -3));
    }),
  );
});

test("which pieces come out, and when, follows from the sizes of those that go in alone", async () => {
  await fc.assert(
    fc.asyncProperty(texts, sizes, async (text, chosen) => {
      const given = cut(text, chosen);
      const blank = given.map((piece) => Buffer.alloc(piece.length, "."));

      const [seen, plain] = await Promise.all([pieces(given), pieces(blank)]);

      expect(seen.out.map((piece) => piece.length)).toEqual(plain.out.map((piece) => piece.length));
      expect(await beforeEnd(given)).toBe(await beforeEnd(blank));
    }),
  );
});

test("how far a guess is right does not change what has come at a pause", async () => {
  const front = Buffer.alloc(2_000, ".");
  const guesses = Array.from(secret, (_character, length) => secret.slice(0, length).padStart(secret.length, "!"));

  const seen = await Promise.all(guesses.map(async (guess) => beforeEnd([front, Buffer.from(guess)])));

  expect(new Set(seen).size).toBe(1);
  expect(seen[0]).toBeGreaterThan(0);
});

test("a secret that begins in one header and ends in the next is masked, and only that", () => {
  let found = 0;
  const mask = new SecretMask(findInAnswers([secret]), () => void (found += 1));

  const masked = mask.texts(["OK", "x-a", "tok-5f0e1d", "2c3b4a9", "rest"]);

  expect(masked).toEqual(["OK", "x-a", "*".repeat(10), "*".repeat(7), "rest"]);
  expect(found).toBe(1);
});
