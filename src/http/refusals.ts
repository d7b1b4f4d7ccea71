import type { Clock } from "../lib/clock.ts";

/** A request that was answered with "no", without anything that its sender wrote. */
export interface HttpRefusal {
  readonly status: number;
  readonly method: string;
  /** As the server knows it, not as it was asked for. */
  readonly route: string;
  readonly address: string;
  /** Refusals of the same kind before this one that were not told. */
  readonly untold: number;
}

const windowMs = 60_000;
/** Of each status and route in a window; more would let a stranger fill the disk with our records. */
const toldPerWindow = 30;

/** Tells the first refusals of each status and route within a minute; the first one after that says how many were left out. */
export function createRefusalReport(
  clock: Clock,
  tell: (refusal: HttpRefusal) => void,
): (refusal: Omit<HttpRefusal, "untold">) => void {
  const windows = new Map<string, { since: number; told: number; untold: number }>();
  return (refusal) => {
    const now = clock.monotonic();
    const key = `${refusal.status} ${refusal.route}`;
    const window = windows.get(key) ?? { since: now, told: 0, untold: 0 };
    windows.set(key, window);
    if (now - window.since >= windowMs) Object.assign(window, { since: now, told: 0 });
    if (window.told >= toldPerWindow) {
      window.untold += 1;
      return;
    }
    window.told += 1;
    tell({ ...refusal, untold: window.untold });
    window.untold = 0;
  };
}
