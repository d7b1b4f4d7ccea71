import { constants, open, readdir } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";

import { AppError, nothingIfMissing } from "../../lib/app-error.ts";

/** The file of signed notes, beside the day files. */
export const checkpointsFile = "checkpoints";

const namePattern = /^audit-(\d{4}-\d{2}-\d{2})\.jsonl$/;

export function dayFile(day: string): string {
  return `audit-${day}.jsonl`;
}

export function dayOf(name: string): string | undefined {
  return namePattern.exec(name)?.[1];
}

/** Names of the day files, oldest first, which is the order of the chain; none when there is no such folder. */
export async function listDayFiles(folder: string): Promise<string[]> {
  const names = (await readdir(folder).catch(nothingIfMissing)) ?? [];
  return names.filter((name) => namePattern.test(name)).toSorted();
}

/** Opens what is a file itself: a link is not followed, and a FIFO, which would keep the opener waiting, is refused. */
export async function openLogFile(path: string, flags: number): Promise<FileHandle> {
  const handle = await open(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600).catch(
    (error: unknown) => {
      const isOther =
        error instanceof Error && "code" in error && ["ELOOP", "ENXIO", "EISDIR"].includes(String(error.code));
      throw isOther ? notAFile(path, error) : error;
    },
  );
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw notAFile(path);
}

function notAFile(path: string, cause?: unknown): AppError {
  const detail = `${path} is not a file: something else was put in the place of a part of the audit log.`;
  return new AppError("audit_broken", detail, { cause });
}

/** Longer than any record; what is longer was not written by us, and is not read into memory either. */
const maxLineBytes = 64 * 1024;

export interface FileLine {
  /** Without the line feed. */
  readonly bytes: Buffer;
  /** From 1. */
  readonly number: number;
  /**
   * `line-feed` for a whole line. Nothing follows the other two: what has no end yet, and the beginning of what is too
   * long.
   */
  readonly end: "line-feed" | "file" | "too-long";
}

const lineFeed = 0x0a;

/** Lines of a file in constant memory; none for a missing file. */
export async function* readLines(path: string): AsyncGenerator<FileLine> {
  const file = await openLogFile(path, constants.O_RDONLY).catch(nothingIfMissing);
  if (file === undefined) return;
  let rest: Buffer = Buffer.alloc(0);
  let number = 1;
  for await (const chunk of file.createReadStream() as AsyncIterable<Buffer>) {
    let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let end = bytes.indexOf(lineFeed); end >= 0; end = bytes.indexOf(lineFeed)) {
      const isTooLong = end > maxLineBytes;
      yield { bytes: bytes.subarray(0, end), number, end: isTooLong ? "too-long" : "line-feed" };
      if (isTooLong) return;
      number += 1;
      bytes = bytes.subarray(end + 1);
    }
    rest = bytes;
    if (rest.length > maxLineBytes) break;
  }
  if (rest.length > 0) yield { bytes: rest, number, end: rest.length > maxLineBytes ? "too-long" : "file" };
}
