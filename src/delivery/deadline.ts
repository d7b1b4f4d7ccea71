import { setTimeout as timeout } from "node:timers/promises";

/** Resolves after so many milliseconds, or as soon as the signal aborts. Never rejects. */
export type Wait = (delayMs: number, signal: AbortSignal) => Promise<void>;

export const waitOnTimer: Wait = async (delayMs, signal) => {
  await timeout(delayMs, undefined, { signal }).catch(() => undefined);
};

/**
 * Runs something that should heed a signal, and gives up on it at the deadline or when `stop` aborts, whether it heeds the
 * signal or not. Rejects with the reason then.
 */
export async function withDeadline(
  stop: AbortSignal,
  deadlineMs: number,
  run: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  stop.throwIfAborted();
  const abort = new AbortController();
  const givenUp = Promise.withResolvers<never>();
  const giveUp = (reason: Error): void => {
    abort.abort(reason);
    givenUp.reject(reason);
  };
  const onStop = (): void => giveUp(new Error("the host is shutting down"));
  const timer = setTimeout(() => giveUp(new Error(`not accepted within ${deadlineMs} ms`)), deadlineMs);
  stop.addEventListener("abort", onStop, { once: true });
  try {
    await Promise.race([run(abort.signal), givenUp.promise]);
  } finally {
    clearTimeout(timer);
    stop.removeEventListener("abort", onStop);
  }
}
