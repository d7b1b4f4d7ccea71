import { readFile } from "node:fs/promises";

import type { LimitCounters } from "../../domain/turns/limit.ts";
import { type MountPoint, mountOf, parseMountInfo } from "../../lib/files/mount-points.ts";

/** A folder of the cgroup file system; without names it has the files of all controllers, as in version 2. */
interface Cgroup {
  readonly controllers: readonly string[];
  readonly folder: string;
}

/**
 * The files in which the host's kernel keeps the limits and counters of a container. Where they are is found once:
 * neither the container nor the cgroup file systems move while it runs.
 */
export class ContainerCgroups {
  readonly #cgroups: readonly Cgroup[];

  private constructor(cgroups: readonly Cgroup[]) {
    this.#cgroups = cgroups;
  }

  /** Undefined when the process has ended, or its number means nothing here: it is none of this container. */
  static async find(pid: number, containerId: string): Promise<ContainerCgroups | undefined> {
    const [cgroups, mountInfo] = await Promise.all(
      [`/proc/${pid}/cgroup`, "/proc/self/mountinfo"].map((path) => readFile(path, "utf8").catch(() => "")),
    );
    if (pid <= 0 || !cgroups?.includes(containerId)) return undefined;
    const mounts = parseMountInfo(mountInfo ?? "");
    const found = cgroups.split("\n").flatMap((line): Cgroup[] => {
      const [, names, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
      if (names === undefined || path === undefined) return [];
      const controllers = names === "" ? [] : names.split(",");
      const tree = mounts.find((mount) => shows(mount, controllers));
      if (tree === undefined || mountOf(tree.target, mounts) !== tree) return [];
      return [{ controllers, folder: `${tree.target}${path}` }];
    });
    return new ContainerCgroups(found);
  }

  /**
   * A file of a controller: version 2 has one tree for all controllers, version 1 one for each. The first of the names
   * that can be read; undefined when none can.
   */
  async read(controller: string, names: readonly string[]): Promise<string | undefined> {
    const own = this.#cgroups.filter(({ controllers }) => controllers.length === 0 || controllers.includes(controller));
    for (const { folder } of own) {
      for (const name of names) {
        const value = await readFile(`${folder}/${name}`, "utf8").catch(() => undefined);
        if (value !== undefined) return value.trim();
      }
    }
    return undefined;
  }
}

function shows({ type, superOptions }: MountPoint, controllers: readonly string[]): boolean {
  if (controllers.length === 0) return type === "cgroup2";
  return type === "cgroup" && controllers.every((name) => superOptions.includes(name));
}

/**
 * Asks the host's kernel what it has enforced on a container. Undefined where the host may not look, and after its end.
 */
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
