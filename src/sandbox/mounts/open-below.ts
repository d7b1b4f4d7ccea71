import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";

/**
 * Opens a place without reading it, without waking a device or FIFO, and never through a link. Linux; Node has no name
 * for it.
 */
export const pathOnly = 0o10000000 | constants.O_NOFOLLOW;

/** Opens a folder as it is now, for later questions about it. */
export async function openFolder(path: string): Promise<FileHandle> {
  return open(path, pathOnly | constants.O_DIRECTORY);
}

/** An entry directly in a folder, whatever it is; undefined when there is none. */
export async function openEntry(folder: FileHandle, name: string | Buffer): Promise<FileHandle | undefined> {
  try {
    return await open(Buffer.concat([Buffer.from(`/proc/self/fd/${folder.fd}/`), Buffer.from(name)]), pathOnly);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(String((error as NodeJS.ErrnoException).code))) return undefined;
    throw error;
  }
}

/**
 * An entry anywhere below a folder, each name relative to the folder above it; undefined when there is none, a link
 * leads to it, or the path has a part `.` or `..`.
 */
export async function openBelow(folder: FileHandle, path: Buffer): Promise<FileHandle | undefined> {
  let above: FileHandle | undefined;
  const names = path.toString("latin1").split("/");
  // No name of an entry: `..` would leave the folder.
  if (names.some((name) => ["", ".", ".."].includes(name))) return undefined;
  for (const name of names) {
    const entry = await openEntry(above ?? folder, Buffer.from(name, "latin1"));
    await above?.close();
    if (entry === undefined) return undefined;
    above = entry;
  }
  return above;
}
