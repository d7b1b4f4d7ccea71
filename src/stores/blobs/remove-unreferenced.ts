import type { Clock } from "../../lib/time/clock.ts";
import type { BlobStore } from "../contract/blob-store.ts";
import type { BlobFolder } from "./blob-folder.ts";
import { freshMs } from "./blob-folder.ts";

/** Rows of one transaction. */
const rowsAtOnce = 200;

/**
 * Removes the blobs that no step refers to any more, and those that a host left which died before a step could; younger
 * ones than an hour stay. A row goes before its file, so that a row never stands for a file that is gone. Returns how
 * many files.
 */
export async function removeUnreferenced(
  { folder, blobs, clock }: { folder: BlobFolder; blobs: BlobStore; clock: Pick<Clock, "now"> },
  signal: AbortSignal,
): Promise<number> {
  const before = clock.now() - freshMs;
  for (let forgotten = rowsAtOnce; forgotten >= rowsAtOnce && !signal.aborted;)
    forgotten = await blobs.forget(before, rowsAtOnce);
  return folder.removeUnknown(async (sha256s) => {
    const known = await blobs.known(sha256s);
    return new Set(known.map(({ sha256 }) => sha256));
  }, signal);
}
