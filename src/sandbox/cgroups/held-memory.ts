import { proportionalMb } from "../../lib/process/proportional-memory.ts";
import type { ContainerCgroups } from "./container-cgroups.ts";

/**
 * Megabytes that a container holds: those of its processes, and what lies in its file systems in memory. Undefined
 * where the host may not look.
 */
export async function readHeldMemoryMb(cgroups: ContainerCgroups): Promise<number | undefined> {
  const [processes, statistics] = await Promise.all([
    cgroups.read("memory", ["cgroup.procs"]),
    cgroups.read("memory", ["memory.stat"]),
  ]);
  if (!processes) return undefined;
  const filesBytes = Number(/^shmem (\d+)$/m.exec(statistics ?? "")?.[1] ?? 0);
  try {
    const shares = await Promise.all(
      processes.split("\n").map((pid) => proportionalMb(Number(pid)).catch(noneIfEnded)),
    );
    return shares.reduce((sum, share) => sum + share, filesBytes / 2 ** 20);
  } catch {
    return undefined;
  }
}

function noneIfEnded(error: NodeJS.ErrnoException): number {
  if (error.code === "ENOENT" || error.code === "ESRCH") return 0;
  throw error;
}
