import pino from "pino";
import { expect, test } from "vitest";

import { DueWork } from "../../../../src/work/queue/due-work.ts";
import type { QueuedSession } from "../../../../src/work/queue/session-queue.ts";
import { systemClock } from "../../../../src/lib/time/clock.ts";
import { openTestStore } from "../../../support/open-test-store.ts";
import { ofMember } from "../../../support/lineages.ts";

const logger = pino({ level: "silent" });

const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

test("a session is woken when its work is due, now or later, and nothing ticks without work", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const woken: QueuedSession[] = [];
  using due = new DueWork({ work: store.work, wake: (queued) => woken.push(queued), clock: systemClock, logger });
  // Files that ran before in this process may have left some that end by themselves.
  const before = timers();
  const key = "main:terminal:chat";
  const { id: session } = await store.sessions.open(key, "family");
  const add = (id: string, dueAt: number) =>
    store.work.add(
      {
        id,
        group: "family",
        session,
        cause: "schedule",
        dueAt,
        replyTo: { kind: "nowhere" },
        origin: "owner",
        lineage: ofMember,
        text: id,
      },
      1,
    );

  due.changed();
  await add("now", 1);
  due.changed();
  await expect.poll(() => woken).toEqual([{ session: key, group: "family" }]);
  await store.work.drop("now", "done");
  await add("soon", Date.now() + 30);
  due.changed();

  await expect
    .poll(() => woken)
    .toEqual([
      { session: key, group: "family" },
      { session: key, group: "family" },
    ]);
  await store.work.drop("soon", "done");
  expect(timers()).toBeLessThanOrEqual(before);
});

test("a store that fails for a moment delays work and loses none", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const woken: string[] = [];
  let failures = 0;
  const work = {
    dueSessions: async (now: number) => {
      failures += 1;
      if (failures === 1) throw new Error("the disk is full");
      return store.work.dueSessions(now);
    },
    nextDueAt: (now: number) => store.work.nextDueAt(now),
  };
  using due = new DueWork({ work, wake: ({ session }) => woken.push(session), clock: systemClock, logger });
  const { id: session } = await store.sessions.open("main:terminal:chat", "family");
  await store.work.add(
    {
      id: "a",
      group: "family",
      session,
      cause: "api",
      dueAt: 1,
      replyTo: { kind: "nowhere" },
      origin: "owner",
      lineage: ofMember,
      text: "",
    },
    1,
  );

  due.changed();

  await expect.poll(() => woken).toEqual(["main:terminal:chat"]);
});
