import { readFile } from "node:fs/promises";
import { join } from "node:path";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { waveformOf } from "../../../../src/abilities/media/inside/waveform.ts";

const sample = await readFile(join(import.meta.dirname, "../../../../assets/hello.opus"));

/** Amounts of the decoded sample in 16 parts of its length, the loudest 100. */
const decoded = [43, 74, 3, 56, 100, 43, 87, 48, 54, 74, 18, 54, 86, 72, 42, 0];

/** An Ogg stream of one page for each packet, after those of its head and tags. */
function ogg(packets: readonly Buffer[]): Buffer {
  const pages = [Buffer.from("OpusHead"), Buffer.from("OpusTags"), ...packets].map((packet) => {
    const sizes = [...Array.from({ length: Math.floor(packet.length / 255) }, () => 255), packet.length % 255];
    const head = Buffer.alloc(26);
    head.write("OggS");
    return Buffer.concat([head, Buffer.from([sizes.length, ...sizes]), packet]);
  });
  return Buffer.concat(pages);
}

/** A packet of one frame of 20 ms. */
function frame(bytes: number): Buffer {
  return Buffer.concat([Buffer.from([0b11111_000]), Buffer.alloc(bytes - 1)]);
}

test("a spoken sentence is loud where it is heard, and quiet where nobody speaks", () => {
  const waveform = waveformOf(sample) ?? [];

  const parts = decoded.map((_, part) => waveform.slice(part * 4, part * 4 + 4).reduce((sum, bar) => sum + bar, 0) / 4);
  expect(waveform).toHaveLength(64);
  expect([Math.min(...waveform), Math.max(...waveform)]).toEqual([0, 100]);
  expect(correlation(parts, decoded)).toBeGreaterThan(0.6);
});

test("moments follow one another in time, also where packets are large", () => {
  const quietThenLoud = [
    ...Array.from({ length: 96 }, () => frame(20)),
    ...Array.from({ length: 96 }, () => frame(600)),
  ];

  const waveform = waveformOf(ogg(quietThenLoud));

  expect(waveform).toEqual([...Array.from({ length: 32 }, () => 0), ...Array.from({ length: 32 }, () => 100)]);
});

test("packets of one size tell nothing, nor do few of them", () => {
  expect(waveformOf(ogg(Array.from({ length: 200 }, () => frame(80))))).toBeUndefined();
  expect(waveformOf(ogg([frame(10), frame(80)]))).toBeUndefined();
});

test("whatever a stranger sends, there are 64 moments of 0 to 100, or nothing", () => {
  const pieces = fc.array(fc.oneof(fc.constant(Buffer.from("OggS")), fc.uint8Array({ maxLength: 400 })), {
    maxLength: 90,
  });
  const packets = fc.array(fc.uint8Array({ minLength: 1, maxLength: 600 }), { maxLength: 120 });
  const streams = fc.oneof(
    pieces.map((some) => Buffer.concat(some)),
    packets.map((some) => ogg(some.map((packet) => Buffer.from(packet)))),
    fc.nat(sample.length).map((bytes) => sample.subarray(0, bytes)),
  );

  fc.assert(
    fc.property(streams, (stream) => {
      const waveform = waveformOf(Buffer.from(stream)) ?? Array.from({ length: 64 }, () => 0);
      return waveform.length === 64 && waveform.every((bar) => Number.isInteger(bar) && bar >= 0 && bar <= 100);
    }),
  );
});

function correlation(some: readonly number[], others: readonly number[]): number {
  const [a, b] = [fromMean(some), fromMean(others)];
  return product(a, b) / Math.sqrt(product(a, a) * product(b, b));
}

function fromMean(numbers: readonly number[]): number[] {
  const mean = numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
  return numbers.map((each) => each - mean);
}

function product(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, each, at) => sum + each * (b[at] ?? 0), 0);
}
