import { open } from "node:fs/promises";
import { basename, dirname } from "node:path";

import { AppError } from "../app-error.ts";

/** A socket's name may have 107 bytes on Linux, 103 on macOS. */
const maxSocketPathBytes = 103;

/**
 * Gives the function a name for the socket that is short enough, through an open descriptor of its folder if need be.
 */
export async function withShortPath<T>(path: string, use: (path: string) => Promise<T>): Promise<T> {
  if (Buffer.byteLength(path) <= maxSocketPathBytes) return use(path);
  if (process.platform !== "linux") {
    throw new AppError("setup_required", `The path ${path} is too long for a socket.`, {
      fix: "Set CRABPOT_HOME to a folder with a shorter path.",
    });
  }
  const folder = await open(dirname(path), "r");
  try {
    return await use(`/proc/self/fd/${folder.fd}/${basename(path)}`);
  } finally {
    await folder.close();
  }
}
