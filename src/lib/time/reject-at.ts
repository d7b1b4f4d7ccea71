import { toError } from "../app-error.ts";

/** Rejects with the signal's reason when it aborts, to be raced against work that may take too long. */
export async function rejectAt(signal: AbortSignal): Promise<never> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => reject(toError(signal.reason)), { once: true });
  return promise;
}
