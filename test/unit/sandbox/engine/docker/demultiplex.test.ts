import * as fc from "fast-check";
import { expect, test } from "vitest";
import { demultiplex } from "../../../../../src/sandbox/engine/docker/demultiplex.ts";

function frame(kind: number, payload: Uint8Array): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt8(kind, 0);
  header.writeUInt32BE(payload.length, 4);
  return Buffer.concat([header, payload]);
}

test("all that a container prints arrives in its order, however the engine's stream is cut into pieces", async () => {
  const frames = fc.array(fc.tuple(fc.constantFrom(1, 2), fc.uint8Array({ maxLength: 40 })), { maxLength: 12 });
  const pieceLengths = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 30 });

  await fc.assert(
    fc.asyncProperty(frames, pieceLengths, async (contents, lengths) => {
      const stream = demultiplex();
      const gathered = stream.toArray();
      let rest = Buffer.concat(contents.map(([kind, payload]) => frame(kind, payload)));
      for (let turn = 0; rest.length > 0; turn += 1) {
        const length = lengths[turn % lengths.length] ?? 1;
        stream.write(rest.subarray(0, length));
        rest = rest.subarray(length);
      }
      stream.end();

      const printed = Buffer.concat(contents.map(([, payload]) => payload));
      expect(Buffer.concat(await gathered)).toEqual(printed);
    }),
  );
});

test("what there is of a frame is passed on at once, however long the frame claims to be", async () => {
  const stream = demultiplex();
  const claim = Buffer.from([1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);

  stream.write(Buffer.concat([claim, Buffer.from("beginning")]));

  expect(String(stream.read())).toBe("beginning");
});
