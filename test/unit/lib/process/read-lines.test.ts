import { array, assert, asyncProperty, integer, string } from "fast-check";
import { expect, test } from "vitest";

import { readLines } from "../../../../src/lib/process/read-lines.ts";

/** The lines of bytes that come in pieces of this size. */
async function linesOf(bytes: Buffer, size: number, longest?: number): Promise<string[]> {
  async function* pieces(): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  return (await Array.fromAsync(readLines(pieces(), longest))).flat();
}

test("however a text is cut into pieces, its lines are whole", async () => {
  const lines = array(string({ unit: "grapheme" }).map((line) => line.replaceAll(/[\n\uFEFF]/g, "")));
  await assert(
    asyncProperty(lines, integer({ min: 1, max: 9 }), async (wanted, size) => {
      const bytes = Buffer.from(wanted.map((line) => `${line}\n`).join(""));
      expect(await linesOf(bytes, size)).toEqual(wanted);
    }),
  );
});

test("of a line that is too long no more is kept than shows that it is", async () => {
  const bytes = Buffer.from(`${"x".repeat(10_000)}\nshort\n${"y".repeat(200)}`);

  expect(await linesOf(bytes, 64, 100)).toEqual(["x".repeat(101), "short", "y".repeat(101)]);
});

test("a line of 16 MB that comes in small pieces is read as fast as they come", async () => {
  // To copy what was there for each of them would be 32 GB.
  const [line = ""] = await linesOf(Buffer.alloc(2 ** 24, "x"), 4_096);

  expect(line).toHaveLength(2 ** 24);
});
