import { Gauge, type Registry } from "prom-client";

/** Interval of measurement; more than that is lag. */
const resolutionMs = 20;

interface Pauses {
  /** Longest time that nothing could be done, and the longest of what the host computed meanwhile; in seconds. */
  take(): { readonly longest: number; readonly own: number };
  end(): void;
}

/** Registers the event loop's longest lag since the last query; 0 after disposal. */
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
    help: "Longest pause of the host process since the last scrape, without the time that it waited for a processor or a disk",
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
  let longestMs = 0;
  let ownMs = 0;
  let last = performance.now();
  let computed = computedMs();
  const look = (): void => {
    const [now, computedNow] = [performance.now(), computedMs()];
    const lagMs = Math.max(0, now - last - resolutionMs);
    longestMs = Math.max(longestMs, lagMs);
    ownMs = Math.max(ownMs, Math.min(lagMs, computedNow - computed));
    last = now;
    computed = computedNow;
  };
  const timer = setInterval(look, resolutionMs).unref();
  return {
    take: () => {
      const taken = { longest: longestMs / 1_000, own: ownMs / 1_000 };
      longestMs = 0;
      ownMs = 0;
      return taken;
    },
    end: () => clearInterval(timer),
  };
}

/** Processor time of this thread. */
function computedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
