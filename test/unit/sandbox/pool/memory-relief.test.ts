import { expect, test } from "vitest";

import { containerMb, MemoryRelief } from "../../../../src/sandbox/pool/memory-relief.ts";
import { HotContainer } from "../../../../src/sandbox/pool/hot-container.ts";
import { hotContainerOptions, runningContainer } from "../../../support/container-parts.ts";

const now = 100_000;

interface Idle {
  readonly name: string;
  readonly megabytes: number | undefined;
  readonly lastUsedAt: number;
}

/** A machine whose memory is full of idle containers; ending one gives back what it held. */
async function machine(containers: readonly Idle[]) {
  const ended: string[] = [];
  let available = 0;
  const start = ({ name, megabytes, lastUsedAt }: Idle): Promise<HotContainer> => {
    const running = runningContainer({
      name,
      heldMemoryMb: async () => megabytes,
      remove: async () => {
        ended.push(name);
        available += megabytes ?? containerMb;
      },
    });
    return HotContainer.start(
      hotContainerOptions({ session: name, now: () => lastUsedAt }),
      async () => running,
      60_000,
    );
  };
  const idle = await Promise.all(containers.map(start));
  return {
    idle,
    ended,
    relief: (reserveMb: number) =>
      new MemoryRelief({
        idle: () => idle.filter(({ state }) => state === "idle"),
        availableMb: async () => available,
        reserveMb,
        now: () => now,
      }),
  };
}

test("the idle container that has held the most memory for the longest is ended first, and no more than have to be", async () => {
  const { ended, relief } = await machine([
    { name: "small and long ago", megabytes: 20, lastUsedAt: 0 },
    { name: "large a while ago", megabytes: 500, lastUsedAt: 90_000 },
    { name: "large just now", megabytes: 500, lastUsedAt: 99_990 },
    { name: "unknown", megabytes: undefined, lastUsedAt: 80_000 },
  ]);

  await relief(510).relieve(0);

  expect(ended).toEqual(["large a while ago", "small and long ago"]);
});

test("one that has got work meanwhile is left alone, and without a need nothing is ended", async () => {
  const { idle, ended, relief } = await machine([
    { name: "busy", megabytes: 500, lastUsedAt: 0 },
    { name: "idle", megabytes: 20, lastUsedAt: 0 },
  ]);
  idle[0]?.occupy({ turn: "t", onMessage: () => undefined, onLost: () => undefined });

  await relief(0).relieve(0);
  const without = [...ended];
  await relief(1_000).relieve(0);

  expect(without).toEqual([]);
  expect(ended).toEqual(["idle"]);
});

test("containers that are being started are counted, and two that need memory at once do not both end what one needs", async () => {
  const { ended, relief } = await machine([
    { name: "first", megabytes: 200, lastUsedAt: 0 },
    { name: "second", megabytes: 200, lastUsedAt: 1 },
  ]);
  const memory = relief(50);

  await Promise.all([memory.relieve(2), memory.relieve(2)]);

  expect(50 + 2 * containerMb).toBeLessThan(200);
  expect(ended).toEqual(["first"]);
});

test("where nobody can say how much memory there is, nothing is ended", async () => {
  const { idle, ended } = await machine([{ name: "idle", megabytes: 20, lastUsedAt: 0 }]);
  const parts = { idle: () => idle, availableMb: async () => undefined, reserveMb: 1_000, now: () => now };

  await new MemoryRelief(parts).relieve(1);

  expect(ended).toEqual([]);
});
