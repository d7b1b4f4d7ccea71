import { roomOnDisk } from "../../lib/files/free-space.ts";
import { mebibyte } from "../../lib/text/bytes.ts";
import type { BlobStore } from "../contract/blob-store.ts";

/** Maximum bytes of all blobs of a group, so that an agent cannot fill the disk by looking at images. */
const groupBlobBytes = 2_048 * mebibyte;

/** Returns a check that is true when a group may have another blob in this folder. */
export function createBlobRoom(
  folder: string,
  reserveBytes: () => number,
  blobs: Pick<BlobStore, "bytesOf">,
): (group: string) => Promise<boolean> {
  return async (group) => {
    if ((await roomOnDisk(folder, reserveBytes())) <= 0) return false;
    return (await blobs.bytesOf(group)) < groupBlobBytes;
  };
}
