import { closeSync, openSync, readSync } from "node:fs";

import { Gauge, type Registry } from "prom-client";

/** How often the event loop is looked at; what is beyond that is lag. */
const resolutionMs = 20;

interface Pauses {
  /** Longest time that nothing could be done, and the longest without what the machine kept the host waiting for a processor; in seconds. */
  take(): { readonly longest: number; readonly own: number };
  end(): void;
}

/** Registers the longest time that nothing could be done, since the last time that somebody asked; 0 after its end. */
export function measureEventLoop(registry: Registry): Disposable {
  let pauses: Pauses | undefined;
  let hasEnded = false;
  // This one first: it looks for both.
  void new Gauge({
    name: "crabpot_event_loop_lag_seconds",
    help: "Longest pause of the host process since the last scrape; measured from the first scrape on",
    registers: [registry],
    collect() {
      // Looking wakes the host fifty times a second: only where somebody wants to know.
      const taken = hasEnded ? { longest: 0, own: 0 } : (pauses ??= watchPauses()).take();
      this.set(taken.longest);
      own.set(taken.own);
    },
  });
  const own = new Gauge({
    name: "crabpot_event_loop_own_lag_seconds",
    help: "Longest pause of the host process since the last scrape, without the time that it waited for a processor; where the system does not tell that time, as crabpot_event_loop_lag_seconds",
    registers: [registry],
  });
  return {
    [Symbol.dispose]: () => {
      hasEnded = true;
      pauses?.end();
    },
  };
}

function watchPauses(): Pauses {
  const waits = waitsForProcessor();
  let longestMs = 0;
  let ownMs = 0;
  let last = performance.now();
  let waited = waits.readMs();
  const look = (): void => {
    const now = performance.now();
    const waitedNow = waits.readMs();
    const lagMs = Math.max(0, now - last - resolutionMs);
    longestMs = Math.max(longestMs, lagMs);
    ownMs = Math.max(ownMs, lagMs - (waitedNow - waited));
    last = now;
    waited = waitedNow;
  };
  const timer = setInterval(look, resolutionMs).unref();
  return {
    take: () => {
      const taken = { longest: longestMs / 1_000, own: ownMs / 1_000 };
      longestMs = 0;
      ownMs = 0;
      return taken;
    },
    end: () => {
      clearInterval(timer);
      waits.close();
    },
  };
}

/**
 * How long this thread has been ready to run and was not let: the second number of `schedstat` (Linux, Documentation/scheduler/sched-stats.rst), in
 * nanoseconds. Without such a file: 0.
 */
function waitsForProcessor(): { readMs(): number; close(): void } {
  const file = openQuietly(`/proc/self/task/${process.pid}/schedstat`);
  if (file === undefined) return { readMs: () => 0, close: () => undefined };
  const text = Buffer.alloc(96);
  return {
    readMs: () => Number(text.toString("latin1", 0, readSync(file, text, 0, text.length, 0)).split(" ")[1]) / 1e6,
    close: () => closeSync(file),
  };
}

function openQuietly(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch {
    return undefined;
  }
}
