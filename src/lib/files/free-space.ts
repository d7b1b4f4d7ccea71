import { statfs } from "node:fs/promises";

/** Free space in a folder's file system: bytes and entries (inodes). One system call. */
export async function freeSpace(folder: string): Promise<{ readonly bytes: number; readonly entries: number }> {
  const { bavail, bsize, ffree } = await statfs(folder);
  return { bytes: bavail * bsize, entries: ffree };
}
