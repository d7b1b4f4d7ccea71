import type { Readable } from "node:stream";

import type { Logger } from "pino";

import { RateLimiter } from "../../lib/time/rate-limiter.ts";
import { shorten, visible } from "../../lib/text/visible.ts";

const maxLineChars = 2_000;
const lastChars = 200;
/** Bytes that are taken of what one server writes to its standard error; beyond that it waits. */
const byteLimit = { count: 128 * 1024, periodMs: 1_000 };
const lineLimit = { count: 10, periodMs: 1_000, burst: 50, reopenAt: 10 };

/** A server's standard error, as far as kept. */
export interface ErrorLines {
  /**
   * The last line that says something: the last error, if there was one just now, as it stands in the log, and shorter.
   */
  readonly last: () => string | undefined;
  /** Resolves when no more output can come. */
  readonly closed: Promise<void>;
}

/** Lines that Node and Python print around an error: stack frames, the object, Node's version. */
const aroundError =
  /^(?:at |File "|Node\.js v\d|[\]})]|[\w$]+: (?:\[|'|\d))|^(?:tries|code|requireStack|errno|syscall|path)\b/;
const errorLine = /^(?:[\w$.]*(?:Error|Exception)|error|fatal)\b.*:/i;

/** Number of lines after which an error no longer explains an end. */
const errorStays = 60;

/** The line that tells people most: an error stays until another one comes; of others, the latest counts. */
function saysMore(line: string, before: string | undefined): boolean {
  if (errorLine.test(line)) return true;
  return before === undefined || (!errorLine.test(before) && !aroundError.test(line));
}

/**
 * Puts what a server writes to its standard error into the host's log: hostile lines, escaped and cut, few at a time.
 */
export function logErrorLines(stream: Readable, logger: Pick<Logger, "info">): ErrorLines {
  let last: string | undefined;
  let sinceError = 0;
  const closed = Promise.withResolvers<void>();
  const decoder = new TextDecoder();
  const lines = new RateLimiter(lineLimit);
  const bytes = new RateLimiter(byteLimit);
  let rest = "";
  let timer: NodeJS.Timeout | undefined;
  const writeLine = (line: string): void => {
    if (line.trim() === "") return;
    sinceError = errorLine.test(line.trim()) ? 0 : sinceError + 1;
    if (saysMore(line.trim(), sinceError < errorStays ? last : undefined))
      last = visible(shorten(line.trim(), lastChars));
    const { waitMs, refused } = lines.take(performance.now());
    if (waitMs > 0) return;
    if (refused > 0) logger.info(`${refused} lines were left out`);
    logger.info(visible(shorten(line.trimEnd(), maxLineChars)));
  };
  stream.on("data", (chunk: Uint8Array) => {
    const found = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = (found.pop() ?? "").slice(0, maxLineChars + 1);
    for (const line of found) writeLine(line);
    bytes.count(performance.now(), "", chunk.length);
    const waitMs = bytes.waitMs(performance.now());
    if (waitMs === 0) return;
    stream.pause();
    clearTimeout(timer);
    timer = setTimeout(() => stream.resume(), waitMs).unref();
  });
  stream.on("error", () => undefined);
  stream.on("close", () => {
    clearTimeout(timer);
    writeLine(rest);
    closed.resolve();
  });
  return { last: () => last, closed: closed.promise };
}
