import type { Readable } from "node:stream";

import { RateLimiter } from "../../lib/time/rate-limiter.ts";

/** Bytes that are taken; what a container prints beyond that waits, and with it the container. */
const byteLimit = { count: 256 * 1024, periodMs: 100 };

/**
 * Gives what a container prints to its log, never faster than the host can do without being kept from everything else.
 */
export function pourOutput(output: Readable, sink: { push(bytes: Uint8Array): void; end(): void }): void {
  const limiter = new RateLimiter(byteLimit);
  let rest: NodeJS.Timeout | undefined;
  output.on("data", (bytes: Uint8Array) => {
    sink.push(bytes);
    const now = performance.now();
    limiter.count(now, "", bytes.length);
    const waitMs = limiter.waitMs(now);
    if (waitMs === 0) return;
    output.pause();
    clearTimeout(rest);
    rest = setTimeout(() => output.resume(), waitMs).unref();
  });
  output.on("close", () => {
    clearTimeout(rest);
    sink.end();
  });
  output.on("error", () => sink.end());
}
