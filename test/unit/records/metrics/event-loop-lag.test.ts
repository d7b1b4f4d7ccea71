import { spawn } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";

import { Registry } from "prom-client";
import { expect, test } from "vitest";

import { measureEventLoop } from "../../../../src/records/metrics/event-loop.ts";

test("pauses of the event loop are measured from the first scrape on, and no longer when the host has ended", async () => {
  const registry = new Registry();
  const measured = measureEventLoop(registry);
  // A second one, that has ticked as often as the one that is tested.
  const witness = monitorEventLoopDelay({ resolution: 20 });
  witness.enable();
  const lagAfterPause = async () => {
    witness.reset();
    await expect.poll(() => witness.count).toBeGreaterThan(1);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    await setTimeout(0);
    return Number(/^crabpot_event_loop_lag_seconds (\S+)$/m.exec(await registry.metrics())?.[1]);
  };

  const beforeTheFirstScrape = await lagAfterPause();
  const afterwards = await lagAfterPause();
  measured[Symbol.dispose]();
  const afterTheEnd = [await lagAfterPause(), await lagAfterPause()];
  witness.disable();

  expect(beforeTheFirstScrape).toBe(0);
  expect(afterwards).toBeGreaterThan(0.05);
  expect(afterTheEnd).toEqual([0, 0]);
});

test("time that a busy machine keeps from the host is not counted as the host's pause", async () => {
  const registry = new Registry();
  using measured = measureEventLoop(registry);
  expect(measured).toBeDefined();
  await registry.metrics();
  const others = Array.from({ length: 2 * availableParallelism() }, () =>
    spawn("sh", ["-c", "echo 1; while :; do :; done"], { stdio: ["ignore", "pipe", "ignore"] }),
  );
  try {
    await Promise.all(others.map(async ({ stdout }) => once(stdout, "data")));
    const begun = process.threadCpuUsage().user;
    while (process.threadCpuUsage().user - begun < 80_000);
    await setTimeout(0);
  } finally {
    for (const other of others) other.kill("SIGKILL");
  }

  const text = await registry.metrics();

  const [whole, own] = ["lag_seconds", "own_lag_seconds"].map((name) =>
    Number(new RegExp(String.raw`^crabpot_event_loop_${name} (\S+)$`, "m").exec(text)?.[1]),
  );
  expect(own).toBeGreaterThan(0.04);
  expect(whole).toBeGreaterThan(own ?? 0);
});
