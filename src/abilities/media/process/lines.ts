import * as z from "zod";

import { mediaFailures, mediaId } from "../operations.ts";

/** One request to the process, a line of JSON; the next one comes when this one is answered. */
export const requestLine = z.strictObject({ id: mediaId, operation: z.string().max(64), request: z.unknown() });

const reasonChars = 500;

/** Its answer. */
export const answerLine = z.union([
  z.strictObject({ id: mediaId, result: z.unknown() }),
  z.strictObject({ id: mediaId, failure: z.enum(mediaFailures), reason: z.string().max(reasonChars) }),
]);

export type RequestLine = z.output<typeof requestLine>;
export type AnswerLine = z.output<typeof answerLine>;

const longest = 1024 * 1024;

/** What either side reads. */
export const lineLimits = { longest, tooLong: `it sent a line of more than ${longest} bytes` } as const;

/** What a failure says, short enough for its line. */
export function shortReason(reason: string): string {
  const line = reason.replaceAll(/\s+/g, " ").trim().toWellFormed();
  return line.length > reasonChars ? `${line.slice(0, reasonChars - 1)}…` : line;
}
