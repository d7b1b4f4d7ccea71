import type { IncomingMessage } from "node:http";
import { PassThrough, pipeline, type Readable, Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

import { AppError } from "../app-error.ts";
import { formatBytes } from "../text/bytes.ts";

export interface BoundedBodyOptions {
  readonly maxBytes: number;
  /**
   * Milliseconds in which nothing comes, and in which all must have come; for streams of events there are no such
   * limits.
   */
  readonly silenceMs: number;
  readonly bodyMs: number;
}

const decoders: Readonly<Record<string, () => Transform>> = {
  "": () => new PassThrough(),
  identity: () => new PassThrough(),
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Server-sent events: a stream that may stay open for days, in which each event by itself is bounded. */
export function isEventStream(response: IncomingMessage): boolean {
  return /^text\/event-stream\b/i.test(response.headers["content-type"] ?? "");
}

/**
 * Reads a response unpacked, counting the unpacked bytes, so that a small body that grows large also ends at the limit.
 * Fails with `too_large`, or when nothing comes for too long.
 */
export function boundedBody(response: IncomingMessage, { maxBytes, ...times }: BoundedBodyOptions): Readable {
  const coding = (response.headers["content-encoding"] ?? "").trim().toLowerCase();
  const decoder = Object.hasOwn(decoders, coding) ? decoders[coding] : undefined;
  if (!decoder) {
    response.destroy();
    throw new AppError(
      "bad_input",
      `The answer is packed as ${JSON.stringify(coding.slice(0, 64))}, which nobody asked for.`,
    );
  }
  const isEvents = isEventStream(response);
  if (!isEvents) limitTime(response, times);
  return pipeline(response, decoder(), countBytes(maxBytes, isEvents), () => undefined);
}

function limitTime(response: IncomingMessage, { silenceMs, bodyMs }: Omit<BoundedBodyOptions, "maxBytes">): void {
  const end = (ms: number, what: string): NodeJS.Timeout =>
    setTimeout(() => response.destroy(new Error(`${what} ${ms / 1000} s`)), ms).unref();
  const silence = end(silenceMs, "nothing was received for");
  const whole = end(bodyMs, "the answer was not complete after");
  response.on("data", () => silence.refresh());
  response.once("close", () => {
    clearTimeout(silence);
    clearTimeout(whole);
  });
}

function countBytes(maxBytes: number, isEvents: boolean): Transform {
  let count = 0;
  let tail = "";
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      count += chunk.length;
      if (isEvents) {
        const text = tail + chunk.toString("latin1");
        const end = Math.max(
          ...["\n\n", "\r\n\r\n", "\r\r"].map((gap) => text.lastIndexOf(gap) + gap.length * Number(text.includes(gap))),
        );
        if (end > 0) count = text.length - end;
        tail = text.slice(-3);
      }
      if (count > maxBytes) done(new AppError("too_large", `The answer is larger than ${formatBytes(maxBytes)}.`));
      else done(null, chunk);
    },
  });
}
