import { setTimeout as delay } from "node:timers/promises";

/** Time after which an event will not come, however busy the machine is. */
export const longestWaitMs = 300_000;

const over = new AbortController();

/** Ends all waits, also those of attacks that a signal has left in the middle: they would keep the process. */
export function endWaits(): void {
  over.abort();
}

/** Looks until something is there. Undefined when nothing comes. */
export async function waitFor<Found>(
  look: () => Promise<Found | undefined> | Found | undefined,
  pauseMs = 50,
): Promise<Found | undefined> {
  for (const end = performance.now() + longestWaitMs; performance.now() < end && !over.signal.aborted;) {
    const found = await look();
    if (found !== undefined) return found;
    await delay(pauseMs);
  }
  return undefined;
}

/** Looks until something is so. False when it never is. */
export async function isSoon(look: () => Promise<boolean> | boolean, pauseMs = 50): Promise<boolean> {
  return (await waitFor(async () => ((await look()) ? true : undefined), pauseMs)) ?? false;
}
