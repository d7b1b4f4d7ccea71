import { execFile } from "node:child_process";
import { rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { onDisk, temporaryFolder } from "./temporary-folder.ts";

const run = promisify(execFile);

/** Its own file system, in memory, that can be filled. */
export interface SmallDisk extends AsyncDisposable {
  readonly path: string;
  /** Leaves no more than this free; 0: not a byte. */
  fill(leavingBytes: number): Promise<void>;
  /** Gives back what `fill` has taken. */
  free(): Promise<void>;
}

/** Mounting needs root. A test that were skipped without it would prove nothing, so this fails then. */
export async function smallDisk(megabytes: number): Promise<SmallDisk> {
  if (process.geteuid?.() !== 0) {
    throw new Error("This test mounts its own small disk, which only root may: run it as root.");
  }
  const folder = await temporaryFolder(onDisk);
  await run("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=700`, "tmpfs", folder.path]);
  const ballast = join(folder.path, "ballast");
  return {
    path: folder.path,
    fill: async (leavingBytes) => {
      const { bavail, bsize } = await statfs(folder.path);
      const bytes = Math.max(0, bavail * bsize - leavingBytes);
      // What others write in between is part of the disk too: the last bytes are taken until there are none.
      if (leavingBytes === 0) await fillUp(ballast, bytes);
      else await writeFile(ballast, Buffer.alloc(bytes), { flag: "a" });
    },
    free: () => rm(ballast),
    [Symbol.asyncDispose]: async () => {
      await run("umount", [folder.path]);
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function fillUp(file: string, bytes: number): Promise<void> {
  try {
    await writeFile(file, Buffer.alloc(bytes), { flag: "a" });
    for (;;) await writeFile(file, Buffer.alloc(4096), { flag: "a" });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  }
}
