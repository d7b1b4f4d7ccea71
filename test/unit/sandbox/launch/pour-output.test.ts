import { Readable } from "node:stream";

import { expect, test } from "vitest";

import { pourOutput } from "../../../../src/sandbox/launch/pour-output.ts";

test("everything that a container prints reaches its log in order, and a flood has to wait", async () => {
  const pieces = Array.from({ length: 24 }, (_, index) => Buffer.alloc(64 * 1024, index));
  const output = Readable.from(pieces);
  const taken: number[] = [];
  const ended = Promise.withResolvers<void>();
  let pauses = 0;
  output.on("pause", () => (pauses += 1));

  pourOutput(output, { push: (bytes) => void taken.push(bytes[0] ?? -1), end: () => ended.resolve() });
  await ended.promise;

  expect(taken).toEqual(pieces.map((_, index) => index));
  expect(pauses).toBeGreaterThan(1);
});
