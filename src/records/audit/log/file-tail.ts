import { constants, type FileHandle, open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import { openLogFile } from "../log-files.ts";
import { syncFolder } from "../../../lib/files/sync-folder.ts";
import { nothingIfMissing } from "../../../lib/app-error.ts";

/** More than is written at once, all of which a loss of power can leave as zeros. */
const tailBytes = 2 * 1024 * 1024;
const lineFeed = 0x0a;

/** Cut data, for the record: file, size, and the new place. */
export interface CutTail extends Readonly<Record<string, unknown>> {
  readonly file: string;
  readonly bytes: number;
  readonly keptIn: string;
}

/**
 * Moves an incomplete last line to a separate file (`<name>.torn-<offset>`). Undefined when the file ends with a whole
 * line.
 */
export function cutTail(path: string): Promise<CutTail | undefined> {
  return cutAfter(path, (bytes) => bytes.lastIndexOf(lineFeed) + 1);
}

/** The same with another idea of where the good part ends; `endOf` gets the last bytes of the file. */
export async function cutAfter(path: string, endOf: (tail: Buffer) => number): Promise<CutTail | undefined> {
  await using file = await openIfThere(path, constants.O_RDWR);
  if (file === undefined) return undefined;
  const { bytes, offset } = await readTail(file);
  const torn = bytes.subarray(endOf(bytes));
  if (torn.length === 0) return undefined;
  const end = offset + bytes.length - torn.length;
  const keptIn = `${basename(path)}.torn-${end}`;
  await using aside = await open(join(dirname(path), keptIn), "w", 0o600);
  await aside.writeFile(torn);
  await aside.sync();
  await syncFolder(dirname(path));
  await file.truncate(end);
  await file.sync();
  return { file: basename(path), bytes: torn.length, keptIn };
}

/** At most `count` last whole lines of a file, in order, without their line feeds; fewer when they are very long. */
export async function lastLines(path: string, count: number): Promise<Buffer[]> {
  await using file = await openIfThere(path, constants.O_RDONLY);
  if (file === undefined) return [];
  const { bytes } = await readTail(file);
  const lines: Buffer[] = [];
  let end = bytes.lastIndexOf(lineFeed);
  while (end >= 0 && lines.length < count) {
    const start = end === 0 ? -1 : bytes.lastIndexOf(lineFeed, end - 1);
    lines.unshift(bytes.subarray(start + 1, end));
    end = start;
  }
  return lines;
}

function openIfThere(path: string, mode: number): Promise<FileHandle | undefined> {
  return openLogFile(path, mode).catch(nothingIfMissing);
}

async function readTail(file: FileHandle): Promise<{ bytes: Buffer; offset: number }> {
  const { size } = await file.stat();
  const offset = Math.max(0, size - tailBytes);
  const bytes = Buffer.alloc(size - offset);
  const { bytesRead } = await file.read(bytes, 0, bytes.length, offset);
  return { bytes: bytes.subarray(0, bytesRead), offset };
}
