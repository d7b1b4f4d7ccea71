import { setTimeout as timeout } from "node:timers/promises";

/** Resolves after this many milliseconds, or as soon as the signal aborts. Never rejects. */
export type Sleep = (delayMs: number, signal: AbortSignal) => Promise<void>;

export const sleep: Sleep = async (delayMs, signal) => {
  await timeout(delayMs, undefined, { signal }).catch(() => undefined);
};
