import * as fc from "fast-check";
import { expect, test } from "vitest";

import { readEventStream } from "../../../../src/models/wire/event-stream.ts";

async function* inPieces(text: string, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((one, other) => one - other);
  let from = 0;
  for (const end of ends) {
    yield bytes.subarray(from, end);
    from = end;
  }
}

async function eventsOf(text: string, cuts: readonly number[] = []): Promise<string[]> {
  const decoder = new TextDecoder();
  return (await Array.fromAsync(readEventStream(inPieces(text, cuts)))).map((event) => decoder.decode(event));
}

test("events come out one by one in their plainest form, however the server writes them", async () => {
  const events = await eventsOf(
    [
      "\u{FEFF}: hello\r\n\r\n",
      'event: message_start\r\ndata:{"a":1}\r\nid: 7\r\n\r\n',
      "retry: 5\nunknown: x\n\n",
      "data: one\ndata: two\n\n",
      "data\n\n",
      "data: [DONE]\n\n",
      "data: without its end",
    ].join(""),
  );

  expect(events).toEqual([
    'event: message_start\ndata: {"a":1}\n\n',
    "data: one\ndata: two\n\n",
    "data: \n\n",
    'data: {"choices":[],"ended":true}\n\n',
    "data: [DONE]\n\n",
  ]);
});

test("where the network cuts a stream changes nothing", async () => {
  const text =
    'event: ping\r\ndata: {"text":"größer 漢字 🦀"}\r\n\r\n: quiet\n\ndata: two\ndata: lines\n\ndata: [DONE]\n\n';
  const whole = await eventsOf(text);

  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(), { maxLength: 12 }), async (cuts) => {
      expect(await eventsOf(text, cuts)).toEqual(whole);
    }),
  );
});

test.each([
  ["one event", `data: ${"x".repeat(3_000_000)}\n\n`],
  ["a line that never ends", `data: ${"x".repeat(3_000_000)}`],
  ["many lines of one event", "data: x\n".repeat(400_000)],
  ["comments without an event", ": x\n\n".repeat(400_000)],
  ["nothing but ends of lines", "\n".repeat(3_000_000)],
  ["nothing but ends of lines of the other kind", "\r".repeat(3_000_000)],
])("%s of megabytes is refused", async (_, text) => {
  await expect(eventsOf(text)).rejects.toThrow("an event of the answer is larger than 1 MiB");
});

test("many events that come at once leave the host time for other work between them", async () => {
  let sinceOther = 0;
  let longest = 0;
  const other = setInterval(() => (sinceOther = 0), 0);

  for await (const _ of readEventStream(inPieces("data: x\n\n".repeat(400), []))) {
    sinceOther += 1;
    longest = Math.max(longest, sinceOther);
    // What the host does with one takes at least a millisecond.
    for (const end = performance.now() + 1; performance.now() < end;);
  }
  clearInterval(other);

  expect(longest).toBeGreaterThan(0);
  expect(longest).toBeLessThan(20);
});
