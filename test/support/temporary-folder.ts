import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { noteFolder } from "./made-by-tests.ts";
import { memoryVariable } from "./memory-folder.ts";

/**
 * Parent of folders that containers see, whose memory would pay for files that they write into memory, and of those
 * that count as mounts: nothing below /dev may be one.
 */
export const onDisk = tmpdir();

/** A new empty folder that is removed at the end of the scope: in the machine's memory where a test can have some. */
export async function temporaryFolder(
  parent: string = process.env[memoryVariable] ?? onDisk,
): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(parent, "crabpot-test-"));
  noteFolder(path);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
