import { expect, test } from "vitest";

import { Pacing } from "../../../../src/channels/whatsapp/outgoing/pacing.ts";
import { VirtualTime } from "../../../support/virtual-time.ts";

test("a chat gets one message a second, others do not wait for it, and a minute has room for this many", async () => {
  const time = new VirtualTime();
  const pacing = new Pacing({ perChatPerSecond: 1, perMinute: 4 }, time.clock, () => 0.5);

  expect([pacing.take("a"), pacing.take("a"), pacing.take("a"), pacing.take("b")]).toEqual([0, 1_000, 2_000, 0]);
  expect(pacing.take("b")).toBe(15_000);
  expect(() => pacing.take("c")).toThrow(expect.objectContaining({ retryAfterMs: 30_000, permanent: false }));
  await time.advance(30_000);
  expect(pacing.take("c")).toBe(0);
});

test("what may as well not be said takes no more than half of the room, and nobody waits for it", () => {
  const time = new VirtualTime();
  const pacing = new Pacing({ perChatPerSecond: 1, perMinute: 4 }, time.clock, () => 0.5);

  expect([pacing.takeSpare(), pacing.takeSpare(), pacing.takeSpare(), pacing.takeSpare()]).toEqual([
    true,
    true,
    true,
    false,
  ]);
  expect(pacing.take("a")).toBe(0);
});

test("waits differ by a quarter", () => {
  const time = new VirtualTime();
  const taken = [0, 1].map((random) => {
    const pacing = new Pacing({ perChatPerSecond: 1, perMinute: 100 }, time.clock, () => random);
    pacing.take("a");
    return pacing.take("a");
  });

  expect(taken).toEqual([750, 1_250]);
});
