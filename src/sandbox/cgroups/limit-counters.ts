import type { LimitCounters } from "../../domain/limit.ts";
import type { ContainerCgroups } from "./container-cgroups.ts";

/** Asks the host's kernel what it has enforced on a container. Undefined where the host may not look, and after its end. */
export async function readLimitCounters(cgroups: ContainerCgroups): Promise<LimitCounters | undefined> {
  const [memory, processes] = await Promise.all([
    cgroups.read("memory", ["memory.events", "memory.oom_control"]),
    cgroups.read("pids", ["pids.events"]),
  ]);
  if (memory === undefined && processes === undefined) return undefined;
  return { memoryKills: count(memory, "oom_kill"), refusedProcesses: count(processes, "max") };
}

function count(text: string | undefined, name: string): number {
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text ?? "")?.[1] ?? 0);
}
