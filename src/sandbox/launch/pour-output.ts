import type { Readable } from "node:stream";

/** Bytes that are taken in one window; what a container prints beyond that waits, and with it the container. */
const bytesPerWindow = 256 * 1024;
const windowMs = 100;

/** Gives what a container prints to its log, never faster than the host can do without being kept from everything else. */
export function pourOutput(output: Readable, sink: { push(bytes: Uint8Array): void; end(): void }): void {
  let taken = 0;
  let since = performance.now();
  let rest: NodeJS.Timeout | undefined;
  output.on("data", (bytes: Uint8Array) => {
    sink.push(bytes);
    const now = performance.now();
    if (now - since >= windowMs) {
      since = now;
      taken = 0;
    }
    taken += bytes.length;
    if (taken < bytesPerWindow) return;
    output.pause();
    clearTimeout(rest);
    rest = setTimeout(() => output.resume(), windowMs).unref();
  });
  output.on("close", () => {
    clearTimeout(rest);
    sink.end();
  });
  output.on("error", () => sink.end());
}
