import { once } from "node:events";
import type { Readable } from "node:stream";

import { AppError } from "../../lib/app-error.ts";
import { type ProbeReport, probeReport } from "../../protocol/messages.ts";

const maxBytes = 256 * 1024;

/**
 * The first line that a container with our own starter writes: what it is, seen from inside. What follows stays in the
 * stream.
 */
export async function readReport(output: Readable, signal: AbortSignal): Promise<ProbeReport> {
  const line = await readLine(output, signal);
  try {
    return probeReport.parse(JSON.parse(line.toString("utf8")));
  } catch (cause) {
    throw new AppError("attestation_failed", "The report of the probe in the container cannot be read.", { cause });
  }
}

async function readLine(output: Readable, signal: AbortSignal): Promise<Buffer> {
  let read: Buffer = Buffer.alloc(0);
  for (;;) {
    const chunk = output.read() as Buffer | null;
    if (chunk === null) await moreOf(output, signal);
    else read = Buffer.concat([read, chunk]);
    const end = read.indexOf("\n");
    if (end !== -1) {
      if (end + 1 < read.length) output.unshift(read.subarray(end + 1));
      return read.subarray(0, end);
    }
    if (read.length > maxBytes) throw new AppError("attestation_failed", "The report of the probe is too long.");
  }
}

async function moreOf(output: Readable, signal: AbortSignal): Promise<void> {
  if (!output.readableEnded && !output.destroyed) {
    const settled = new AbortController();
    const life = AbortSignal.any([signal, settled.signal]);
    const heard = ["readable", "end", "close"].map((event) => once(output, event, { signal: life }));
    try {
      await Promise.race(heard);
    } finally {
      for (const one of heard) one.catch(() => undefined);
      settled.abort();
    }
  }
  if (output.readableEnded || output.destroyed)
    throw new AppError("container_lost", "The container ended before it was ready.");
}
