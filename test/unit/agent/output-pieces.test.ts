import { expect, test } from "vitest";

import { OutputPieces } from "../../../container/agent/output-pieces.ts";
import { limits } from "../../../src/protocol/limits.ts";

/** Pieces that were sent, each as soon as it is. */
function collect() {
  const sent: { readonly text: string; readonly at: number }[] = [];
  const pieces = new OutputPieces(async (text) => void sent.push({ text, at: performance.now() }));
  return { sent, pieces };
}

test("what is printed is sent a moment later, and the rest at the end", async () => {
  const { sent, pieces } = collect();

  pieces.write(Buffer.from("one\n"));
  pieces.write(Buffer.from("two\n"));
  await expect.poll(() => sent.map(({ text }) => text)).toEqual(["one\ntwo\n"]);
  pieces.write(Buffer.from("three\n"));
  pieces[Symbol.dispose]();

  expect(sent.map(({ text }) => text)).toEqual(["one\ntwo\n", "three\n"]);
});

test("of a flood the end of what came is sent, four times a second", async () => {
  const { sent, pieces } = collect();

  const flood = setInterval(() => {
    for (let line = 0; line < 1_000; line += 1) pieces.write(Buffer.from(`${"x".repeat(100)}\n`));
  }, 1);
  await expect.poll(() => sent.length).toBe(3);
  clearInterval(flood);
  pieces[Symbol.dispose]();

  for (const { text } of sent) expect(text.length).toBeLessThanOrEqual(limits.outputPieceChars);
  expect(sent[0]?.text.startsWith("…\n")).toBe(true);
  expect((sent[2]?.at ?? 0) - (sent[0]?.at ?? 0)).toBeGreaterThan(400);
});

test("a character that comes in two parts is one, and a NUL none", async () => {
  const { sent, pieces } = collect();
  const [first, second] = [Buffer.from("é").subarray(0, 1), Buffer.from("é").subarray(1)];

  pieces.write(Buffer.concat([Buffer.from("a\0"), first]));
  await expect.poll(() => sent).toHaveLength(1);
  pieces.write(second);
  pieces[Symbol.dispose]();

  expect(sent.map(({ text }) => text).join("")).toBe("aé");
});

test("a host that cannot be told is nobody's loss, and after the end nothing is sent", async () => {
  let tries = 0;
  const pieces = new OutputPieces(async () => {
    tries += 1;
    throw new Error("the mailbox is gone");
  });

  pieces.write(Buffer.from("x"));
  pieces[Symbol.dispose]();
  pieces.write(Buffer.from("y"));
  pieces[Symbol.dispose]();
  await new Promise(setImmediate);

  expect(tries).toBe(1);
});
