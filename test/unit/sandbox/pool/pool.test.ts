import { setImmediate as nextRound } from "node:timers/promises";

import { expect, test } from "vitest";

import { AppError } from "../../../../src/lib/app-error.ts";
import { groupOf, leftContainer, openPoolRig } from "../../../support/pool-rig.ts";

test("the next turn of a session gets its hot container, until what it is made from has changed", async () => {
  await using rig = await openPoolRig();

  for (let turn = 0; turn < 2; turn += 1) rig.pool.release(await rig.begin("family"));
  const before = rig.started.length;
  rig.settings.fingerprint = "two";
  rig.pool.release(await rig.begin("family"));

  expect(before).toBe(1);
  expect(rig.started.map(({ generation, state }) => [generation, state()])).toEqual([
    [1, "removed"],
    [2, "running"],
  ]);
  expect(rig.hot()).toEqual(["family"]);
});

test("the idle container that was used longest ago makes room for a new one; a busy one never does", async () => {
  await using rig = await openPoolRig({ maxHot: 3 });

  await rig.begin("busy");
  for (const group of ["old", "young"]) rig.pool.release(await rig.begin(group));
  await rig.begin("new");

  expect(rig.hot()).toEqual(["busy", "young", "new"]);
  expect(rig.events).toContainEqual(
    expect.objectContaining({
      type: "container.stopped",
      group: "old",
      data: expect.objectContaining({ reason: "its place was needed" }) as unknown,
    }),
  );
});

test("an idle container is frozen, thawed for its next turn, and ended when it is not used for long", async () => {
  await using rig = await openPoolRig({ freezeMs: 1 });

  rig.pool.release(await rig.begin("family"));
  await expect.poll(() => rig.started[0]?.state()).toBe("frozen");
  const session = await rig.begin("family");
  const inTurn = rig.started[0]?.state();
  rig.settings.idleStopMs = 2;
  rig.pool.release(session);

  expect(inTurn).toBe("running");
  await expect.poll(() => rig.started[0]?.state()).toBe("removed");
  expect(rig.hot()).toEqual([]);
  expect(rig.started).toHaveLength(1);
});

test("a turn whose container dies is told why, and the next turn gets one of a new generation", async () => {
  await using rig = await openPoolRig();
  const lost = Promise.withResolvers<string>();

  await rig.begin("family", { onLost: lost.resolve });
  rig.started[0]?.die();

  expect(await lost.promise).toBe("it ran out of memory");
  rig.pool.release(await rig.begin("family"));
  expect(rig.started.map(({ generation }) => generation)).toEqual([1, 2]);
});

test("a container that is stopped while it starts is ended as soon as it runs", async () => {
  const asked = Promise.withResolvers<void>();
  const mayRun = Promise.withResolvers<void>();
  await using rig = await openPoolRig({ beforeRun: () => (asked.resolve(), mayRun.promise) });
  const { id } = await rig.openSession("family");

  const beginning = rig.begin("family");
  await asked.promise;
  const stopped = rig.pool.stop(id, "its sub-agent has ended");
  mayRun.resolve();
  await beginning;

  expect(await stopped).toBe(true);
  expect(rig.started.map(({ state }) => state())).toEqual(["removed"]);
  expect(rig.hot()).toEqual([]);
});

test("a container that is stopped before it was even asked for is ended as soon as it runs", async () => {
  const asked = Promise.withResolvers<void>();
  const mayGoOn = Promise.withResolvers<void>();
  const beforeAsked = (): Promise<void> => (asked.resolve(), mayGoOn.promise);
  await using rig = await openPoolRig({ beforeAsked });
  const { id } = await rig.openSession("family");

  const beginning = rig.begin("family");
  await asked.promise;
  const stopped = rig.pool.stop(id, "its sub-agent has ended");
  mayGoOn.resolve();
  await beginning;

  expect(await stopped).toBe(true);
  expect(rig.started.map(({ state }) => state())).toEqual(["removed"]);
});

test("a host that stops before a container was even asked for waits until it is removed", async () => {
  const asked = Promise.withResolvers<void>();
  const mayGoOn = Promise.withResolvers<void>();
  const beforeAsked = (): Promise<void> => (asked.resolve(), mayGoOn.promise);
  await using rig = await openPoolRig({ beforeAsked });

  const beginning = rig.begin("family");
  await asked.promise;
  const order: string[] = [];
  const ended = rig.pool[Symbol.asyncDispose]().then(() => order.push("ended"));
  await nextRound();
  order.push("asked for");
  mayGoOn.resolve();
  await Promise.allSettled([beginning, ended]);

  expect(order).toEqual(["asked for", "ended"]);
  expect(rig.started.map(({ state }) => state())).not.toContain("running");
});

test("a container whose mounts are refused is not used again", async () => {
  await using rig = await openPoolRig();

  const session = await rig.begin("family");
  rig.pool.release(session);
  rig.settings.mountFault = (of) => (of === session && rig.started.length === 1 ? "a planted link" : undefined);
  rig.pool.release(await rig.begin("family"));

  expect(rig.started.map(({ state }) => state())).toEqual(["removed", "running"]);
});

test("a group that may have no container gets none, and others are not touched", async () => {
  await using rig = await openPoolRig({ maxHot: 1 });
  const full = new AppError("rate_limited", "The group's folder is full.");

  rig.pool.release(await rig.begin("family"));
  rig.settings.refuse = (group) => (group === "greedy" ? full : undefined);

  await expect(rig.begin("greedy")).rejects.toBe(full);
  expect(rig.hot()).toEqual(["family"]);
  expect(rig.started).toHaveLength(1);
});

test("idle containers of changed or removed groups end at once, a busy one after its turn", async () => {
  await using rig = await openPoolRig();

  const busy = await rig.begin("busy");
  for (const group of ["kept", "removed"]) rig.pool.release(await rig.begin(group));
  rig.pool.endOutdated((name) => (name === "removed" ? undefined : groupOf(name)));
  await expect.poll(() => rig.hot()).toEqual(["busy", "kept"]);
  rig.settings.fingerprint = "two";
  rig.pool.endOutdated(groupOf);
  await expect.poll(() => rig.hot()).toEqual(["busy"]);
  rig.pool.release(busy);

  await expect.poll(() => rig.hot()).toEqual([]);
});

test.each([
  ["is what its session would get now", {}, false, "adopted"],
  ["was used by a turn when its host ended", {}, true, "removed"],
  ["has ended", { running: false }, false, "removed"],
  ["is older than its session's last one", { generation: 0 }, false, "removed"],
  ["is not what its session would get now", { adopt: async () => "another image" }, false, "removed"],
])("a container of an earlier host that %s is taken over or removed", async (_case, more, busy, outcome) => {
  await using rig = await openPoolRig();
  const log: string[] = [];
  const { id } = await rig.openSession("family");
  await rig.sessions.nextGeneration(id);
  const session = await rig.openSession("family");
  rig.settings.left = [leftContainer(session, log, more)];

  await rig.pool.reconcile(async (of) => (of === id ? { group: groupOf("family"), session, busy } : undefined));

  expect(log).toEqual([outcome]);
  expect(rig.hot()).toEqual(outcome === "adopted" ? ["family"] : []);
});

test("when the host stops all containers are removed, and none is started anymore", async () => {
  await using rig = await openPoolRig();

  await rig.begin("busy");
  rig.pool.release(await rig.begin("idle"));
  await rig.pool[Symbol.asyncDispose]();

  expect(rig.started.map(({ state }) => state())).toEqual(["removed", "removed"]);
  await expect(rig.begin("late")).rejects.toMatchObject({ code: "container_lost" });
});
