import { statfs } from "node:fs/promises";

/** Free space in a folder's file system: bytes and entries (inodes). One system call. */
export async function freeSpace(folder: string): Promise<{ readonly bytes: number; readonly entries: number }> {
  const { bavail, bsize, ffree } = await statfs(folder);
  return { bytes: bavail * bsize, entries: ffree };
}

/** Returns the bytes that may be written to a folder before the reserve is touched; negative once it is. */
export async function roomOnDisk(folder: string, reserveBytes: number): Promise<number> {
  return (await freeSpace(folder)).bytes - reserveBytes;
}
