import type { Duplex } from "node:stream";

export type FirstBytes<T> =
  | { readonly kind: "read"; readonly result: T; readonly bytes: Buffer }
  | { readonly kind: "closed" | "too-long" | "too-slow" };

/**
 * Reads from a connection until `judge` has an opinion of all bytes so far. The stream is paused then, and what was
 * read is in `bytes`. Never rejects.
 */
export async function readFirst<T>(
  stream: Duplex,
  judge: (bytes: Buffer) => T | undefined,
  limits: { readonly maxBytes: number; readonly timeoutMs: number },
): Promise<FirstBytes<T>> {
  let bytes = Buffer.alloc(0);
  const { promise, resolve } = Promise.withResolvers<FirstBytes<T>>();
  const onData = (chunk: Buffer): void => {
    bytes = Buffer.concat([bytes, chunk]);
    const result = judge(bytes.subarray(0, limits.maxBytes));
    if (result !== undefined) resolve({ kind: "read", result, bytes });
    else if (bytes.length >= limits.maxBytes) resolve({ kind: "too-long" });
  };
  const onClosed = (): void => resolve({ kind: "closed" });
  const timer = setTimeout(() => resolve({ kind: "too-slow" }), limits.timeoutMs);
  stream.on("data", onData).on("end", onClosed).on("close", onClosed);
  // A stream that was paused before does not begin to flow by itself.
  stream.resume();
  if (stream.destroyed || stream.readableEnded) onClosed();
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    stream.pause();
    stream.off("data", onData).off("end", onClosed).off("close", onClosed);
  }
}
