import type { Duplex } from "node:stream";

import * as z from "zod";

import { readLines } from "../../lib/process/read-lines.ts";
import { parseJson } from "../../lib/text/parse-json.ts";
import { failureSchema } from "./failures.ts";

const id = z.number().int().min(1).max(Number.MAX_SAFE_INTEGER);
const name = z.string().min(1).max(64);

/** What passes between the host and a plugin's process, a line of JSON each. */
export const frame = z.union([
  /** Wants an answer. `of`: it belongs to this call of the other side. */
  z.strictObject({ call: name, id, of: id.optional(), value: z.unknown() }),
  /** Wants none. */
  z.strictObject({ tell: name, of: id, value: z.unknown() }),
  z.strictObject({ answer: id, value: z.unknown() }),
  z.strictObject({ failure: id, error: failureSchema }),
  /** Nobody waits for the answer to this call any more. */
  z.strictObject({ cancel: id }),
  z.strictObject({ beat: z.literal(true) }),
]);

export type Frame = z.output<typeof frame>;

export interface FrameOptions {
  /** Longest line that is read, in bytes. */
  readonly longest: number;
  readonly onFrame: (frame: Frame) => void;
  /** The other side does not keep to the rules; nothing more is read. */
  readonly onFault: (reason: string) => void;
}

/** Reads frames from a stream until it ends or does not keep to the rules. */
export function readFrames(stream: Duplex, { longest, onFrame, onFault }: FrameOptions): void {
  const onLine = (line: Buffer): string | undefined => {
    const read = frame.safeParse(parseJson(line.toString("utf8"))).data;
    if (read === undefined) return "it sent what is no message";
    onFrame(read);
    return undefined;
  };
  readLines(stream, { longest, tooLong: `it sent a message of more than ${longest} bytes`, onLine, onFault });
}
