import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";

import { errorCode } from "../../src/lib/app-error.ts";

/** Variable that tells the processes of tests where to make temporary folders. */
export const memoryVariable = "CRABPOT_TEST_MEMORY";
const place = "/dev/shm";
const ofTests = /^crabpot-(\d+)$/;
/** Ten times as much as all tests that run at once need. */
const neededBytes = 4 * 1024 ** 3;

/**
 * Makes a folder in memory for what the tests of this process make, or returns undefined where there is no room. On
 * a disk, a fifth of the time of tests without containers goes into SQLite's writing through; and a process that is
 * killed loses nothing in memory either. It has to be removed when they have ended: removes those of processes that
 * were killed before.
 */
export function makeMemoryFolder(): string | undefined {
  if (!isFit()) return undefined;
  for (const name of readdirSync(place)) {
    const maker = Number(ofTests.exec(name)?.[1] ?? 0);
    if (maker > 0 && !isRunning(maker)) rmSync(join(place, name), { recursive: true, force: true });
  }
  const folder = join(place, `crabpot-${process.pid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

function isFit(): boolean {
  try {
    const { bavail, bsize } = statfsSync(place);
    const mount = readFileSync("/proc/self/mounts", "utf8")
      .split("\n")
      .find((line) => line.split(" ")[1] === place);
    // Tests start programs that they have written there.
    const isMemory = / tmpfs /.test(mount ?? "") && !/\bnoexec\b/.test(mount ?? "");
    return isMemory && Math.min(bavail * bsize, freemem()) > neededBytes;
  } catch {
    return false;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) !== "ESRCH";
  }
}
