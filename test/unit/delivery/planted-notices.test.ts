import { pino } from "pino";
import { expect, test } from "vitest";

import { createEventNotices } from "../../../src/delivery/event-notices.ts";
import type { HostEvent } from "../../../src/domain/events/event.ts";

test("what a turn left that programs run by themselves is told once, with the command that shows it", () => {
  const told: object[] = [];
  const notice = createEventNotices(pino({ level: "silent" }), (one) => void told.push(one));
  const point = { target: "site", path: ".envrc", kind: "direnv", change: "added" } as const;
  const common = { seq: 1, id: "1", at: 1, group: "family", session: "s", turn: "t", actor: "agent" };
  const events = [
    { ...common, type: "execution-point.changed", data: point },
    { ...common, type: "execution-points.counted", data: { count: 3, omitted: 0, first: [point] } },
  ] as unknown as HostEvent[];

  for (const event of events) notice(event);

  expect(told).toEqual([
    {
      text: expect.stringMatching(
        /^The agent of group family has changed 3 files in a mounted folder[^\n]* mounts planted family$/,
      ),
      hiddenFrom: "family",
    },
  ]);
});
