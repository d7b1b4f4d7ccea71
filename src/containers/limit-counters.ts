import { readFile } from "node:fs/promises";

import { readCgroup } from "./attestation-host.ts";

/** A limit of its container that an agent can run into. */
export type ContainerLimit = "memory" | "processes";

/** How often the kernel has enforced each limit of a container since its start. */
export type LimitCounters = Readonly<Record<ContainerLimit, number>>;

/** Undefined where the kernel's counters cannot be read: the container has ended, or the engine runs in another machine. */
export async function readLimitCounters(pid: number, containerId: string): Promise<LimitCounters | undefined> {
  const cgroups = await readFile(`/proc/${pid}/cgroup`, "utf8").catch(() => "");
  if (pid <= 0 || !cgroups.includes(containerId)) return undefined;
  const [memory, processes] = await Promise.all([
    readCgroup(cgroups, "memory", ["memory.events", "memory.oom_control"]),
    readCgroup(cgroups, "pids", ["pids.events"]),
  ]);
  return { memory: counterOf(memory, "oom_kill"), processes: counterOf(processes, "max") };
}

/** The number on the line of `name number`. */
function counterOf(text: string | undefined, name: string): number {
  const line = text?.split("\n").find((candidate) => candidate.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? 0);
}
