import * as fc from "fast-check";
import { expect, test } from "vitest";

import { ConnectionEnd } from "../../../src/channels/channel.ts";
import { FakePlatform } from "../../fakes/fake-platform.ts";
import { openSupervisorRig, type SupervisorRig } from "../../support/supervisor-rig.ts";

type Event = (rig: SupervisorRig) => Promise<void> | void;

const ends = fc
  .constantFrom("lost", "lost", "lost", "restart", "conflict")
  .map((kind) => new ConnectionEnd(kind, `it ended: ${kind}`));

const event: fc.Arbitrary<Event> = fc.oneof(
  ends.map(
    (reason): Event =>
      ({ platform }) =>
        platform.end(reason),
  ),
  ends.map(
    (reason): Event =>
      ({ platform }) =>
        void (platform.reactions = [reason]),
  ),
  fc.constantFrom("open", "open", "hang", "deaf").map((reaction): Event => ({ platform }) => {
    platform.reactions = [reaction];
  }),
  fc.constantFrom("answer", "silence", undefined).map(
    (probe): Event =>
      ({ platform }) =>
        void (platform.probe = probe),
  ),
  fc.constant<Event>(({ platform }) => platform.answer()),
  fc.constantFrom("slow", undefined).map(
    (reason): Event =>
      ({ platform }) =>
        platform.degrade(reason),
  ),
  fc.integer({ min: 1, max: 900_000 }).map(
    (ms): Event =>
      ({ time }) =>
        time.advance(ms),
  ),
  fc.constant<Event>(({ time }) => time.settle()),
);

/**
 * A wait between two tries is one of these, a quarter shorter or longer; or the ten minutes after a conflict; or none.
 */
const backoffsS = [1, 2, 4, 8, 16, 32, 60, 300];

/** Violated invariants of a settled system. */
function violations({ platform, channel }: SupervisorRig): string[] {
  const { state, detail = "" } = channel.state();
  const connected = state === "open" || state === "degraded";
  const planned = Number(/next try in ([\d.]+) s/.exec(detail)?.[1] ?? 0);
  // The text is rounded to a tenth.
  const inBounds = backoffsS.some((base) => planned >= base * 0.75 - 0.05 && planned <= base * 1.25 + 0.05);
  return [
    ...(platform.mostLive > 1 ? ["there were two connections at a time"] : []),
    ...(connected !== (platform.live === 1) ? [`it is ${state} with ${platform.live} connections`] : []),
    ...(planned === 0 || planned === 600 || inBounds ? [] : [`it waits ${planned} s`]),
  ];
}

test("whatever happens in whatever order, there are never two connections and no delay is out of bounds", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { maxLength: 40 }),
      fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
      async (events, randoms) => {
        const platform = new FakePlatform();
        const random = (): number => randoms.next().value as number;
        await using rig = await openSupervisorRig({ platform, random });
        for (const happen of events) {
          await happen(rig);
          await rig.time.settle();
          expect(violations(rig)).toEqual([]);
        }
        platform.answer();
        await rig[Symbol.asyncDispose]();
        await rig.time.settle();
        expect([platform.live, rig.time.sleepers]).toEqual([0, 0]);
      },
    ),
    { numRuns: 300 },
  );
});
