import { SendError } from "../channels/channel.ts";

/**
 * Runs a function that should obey a signal, and abandons it at the deadline or when `stop` aborts. Then it rejects
 * with the reason, and the outcome is unknown.
 */
export async function withDeadline<T>(
  stop: AbortSignal,
  deadlineMs: number,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  stop.throwIfAborted();
  const abort = new AbortController();
  const givenUp = Promise.withResolvers<never>();
  const giveUp = (reason: Error): void => {
    abort.abort(reason);
    givenUp.reject(reason);
  };
  const onStop = (): void => giveUp(new Error("the host is shutting down"));
  const late = new SendError(`no answer within ${deadlineMs} ms`, { ambiguous: true });
  const timer = setTimeout(() => giveUp(late), deadlineMs);
  stop.addEventListener("abort", onStop, { once: true });
  try {
    return await Promise.race([run(abort.signal), givenUp.promise]);
  } finally {
    clearTimeout(timer);
    stop.removeEventListener("abort", onStop);
  }
}
