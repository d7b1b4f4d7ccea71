import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";

import { Registry } from "prom-client";
import { expect, test } from "vitest";

import { measureEventLoop } from "../../../src/metrics/metrics.ts";

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
