import { readFile } from "node:fs/promises";

import { readCgroup, readCgroupsOf } from "./cgroup-files.ts";

/**
 * Megabytes that a container holds: of what its processes share with others their share only (PSS), and what lies in its
 * file systems in memory. Undefined where the host may not look; other users' processes are for root alone.
 */
export async function readHeldMemoryMb(pid: number, containerId: string): Promise<number | undefined> {
  const cgroups = await readCgroupsOf(pid, containerId);
  if (cgroups === undefined) return undefined;
  const [processes, statistics] = await Promise.all([
    readCgroup(cgroups, "memory", ["cgroup.procs"]),
    readCgroup(cgroups, "memory", ["memory.stat"]),
  ]);
  if (!processes) return undefined;
  const shares = await Promise.all(processes.split("\n").map((process) => proportionalKb(process)));
  const filesBytes = Number(/^shmem (\d+)$/m.exec(statistics ?? "")?.[1] ?? 0);
  const sharesKb = shares.reduce<number | undefined>(
    (sum, share) => (sum === undefined || share === undefined ? undefined : sum + share),
    0,
  );
  return sharesKb === undefined ? undefined : sharesKb / 1024 + filesBytes / 2 ** 20;
}

/** 0 when the process has ended. */
async function proportionalKb(pid: string): Promise<number | undefined> {
  try {
    const text = await readFile(`/proc/${pid}/smaps_rollup`, "utf8");
    return Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ESRCH" ? 0 : undefined;
  }
}
