import { setTimeout as timeout } from "node:timers/promises";

import { toError } from "./app-error.ts";

/** Resolves after so many milliseconds, or as soon as the signal aborts. Never rejects. */
export type Wait = (delayMs: number, signal: AbortSignal) => Promise<void>;

export const waitOnTimer: Wait = async (delayMs, signal) => {
  await timeout(delayMs, undefined, { signal }).catch(() => undefined);
};

/** Rejects with the signal's reason when it aborts, to be raced against work that may take too long. */
export async function rejectAt(signal: AbortSignal): Promise<never> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => reject(toError(signal.reason)), { once: true });
  return promise;
}
