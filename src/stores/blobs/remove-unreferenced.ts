import type { Clock } from "../../lib/time/clock.ts";
import type { BlobStore } from "../contract/blob-store.ts";
import { type BlobFolder, freshMs } from "./blob-folder.ts";

/** Rows of one transaction. */
const rowsAtOnce = 200;

/**
 * Removes unreferenced blobs that are older than an hour. A row is removed before its file, so that no row stands for a
 * missing file. Returns the number of files.
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
