import { setTimeout as timeout } from "node:timers/promises";

/** Resolves after so many milliseconds, or as soon as the signal aborts. Never rejects. */
export type Wait = (delayMs: number, signal: AbortSignal) => Promise<void>;

export const waitOnTimer: Wait = async (delayMs, signal) => {
  await timeout(delayMs, undefined, { signal }).catch(() => undefined);
};
