import type { LimitCounters } from "../domain/limit.ts";
import { readCgroup, readCgroupsOf } from "./cgroup-files.ts";

/**
 * Asks the host's kernel about the container in which a process runs. Undefined where that is not possible: the process has
 * ended, its number means nothing here, or the cgroup files cannot be read.
 */
export async function readLimitCounters(pid: number, containerId: string): Promise<LimitCounters | undefined> {
  const cgroups = await readCgroupsOf(pid, containerId);
  if (cgroups === undefined) return undefined;
  const [memory, processes] = await Promise.all([
    readCgroup(cgroups, "memory", ["memory.events", "memory.oom_control"]),
    readCgroup(cgroups, "pids", ["pids.events"]),
  ]);
  if (memory === undefined && processes === undefined) return undefined;
  return { memoryKills: count(memory, "oom_kill"), refusedProcesses: count(processes, "max") };
}

function count(text: string | undefined, name: string): number {
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text ?? "")?.[1] ?? 0);
}
