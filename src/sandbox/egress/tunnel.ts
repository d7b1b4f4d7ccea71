import { once } from "node:events";
import type { Duplex } from "node:stream";

import type { EgressLimits, EgressMeter } from "./meter.ts";

/** Reasons for a tunnel's end: one side was done, or a limit. */
export type TunnelEnd = "done" | "broken" | "idle" | "time" | "bytes-per-tunnel" | "bytes-per-day" | "stopped";

export interface TunnelReport {
  readonly end: TunnelEnd;
  readonly bytesUp: number;
  readonly bytesDown: number;
}

/**
 * Carries bytes both ways until both sides are done or a limit is reached, no faster than the slower side takes them.
 * Both streams are destroyed at the end. Never rejects.
 */
export async function runTunnel(options: {
  readonly client: Duplex;
  readonly upstream: Duplex;
  readonly limits: EgressLimits;
  readonly meter: EgressMeter;
  readonly signal: AbortSignal;
}): Promise<TunnelReport> {
  const { client, upstream, limits, meter, signal } = options;
  const bytes = { up: 0, down: 0 };
  let end: TunnelEnd = "done";
  const stop = (why: TunnelEnd): void => {
    if (end === "done") end = why;
    client.destroy();
    upstream.destroy();
  };
  const idle = setTimeout(() => stop("idle"), limits.idleMs);
  const total = setTimeout(() => stop("time"), limits.tunnelMs);
  const onStop = (): void => stop("stopped");
  signal.addEventListener("abort", onStop, { once: true });
  const count = (direction: "up" | "down", size: number): void => {
    bytes[direction] += size;
    idle.refresh();
    if (!meter.addBytes(size)) stop("bytes-per-day");
    else if (bytes.up + bytes.down > limits.bytesPerTunnel) stop("bytes-per-tunnel");
  };
  try {
    if (signal.aborted) onStop();
    const copies = [
      copy(client, upstream, (size) => count("up", size)),
      copy(upstream, client, (size) => count("down", size)),
    ];
    // When one direction breaks, the other one has nobody to speak to.
    for (const copying of copies) copying.catch(() => stop("broken"));
    await Promise.allSettled(copies);
  } finally {
    clearTimeout(idle);
    clearTimeout(total);
    signal.removeEventListener("abort", onStop);
    client.destroy();
    upstream.destroy();
  }
  return { end, bytesUp: bytes.up, bytesDown: bytes.down };
}

async function copy(from: Duplex, to: Duplex, count: (size: number) => void): Promise<void> {
  for await (const chunk of from.iterator({ destroyOnReturn: false })) {
    const bytes = chunk as Buffer;
    count(bytes.length);
    if (to.destroyed) throw new Error("the other side is closed");
    if (!to.write(bytes)) await drained(to);
  }
  if (!to.writableEnded) to.end();
}

async function drained(stream: Duplex): Promise<void> {
  const closed = new AbortController();
  const onClose = (): void => closed.abort();
  stream.once("close", onClose);
  try {
    await once(stream, "drain", { signal: closed.signal });
  } finally {
    stream.off("close", onClose);
  }
}
