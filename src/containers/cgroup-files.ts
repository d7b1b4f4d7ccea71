import { readFile } from "node:fs/promises";

import { mountOf, parseMountInfo } from "./mount-points.ts";

/**
 * The text of `/proc/<pid>/cgroup` of a process in a container; undefined when it has ended, or its number means nothing
 * here.
 */
export async function readCgroupsOf(pid: number, containerId: string): Promise<string | undefined> {
  const cgroups = await readFile(`/proc/${pid}/cgroup`, "utf8").catch(() => "");
  return pid > 0 && cgroups.includes(containerId) ? cgroups : undefined;
}

/**
 * A file of a controller in the cgroup of a process, of whose `/proc/<pid>/cgroup` this is the text: version 2 has one tree
 * for all controllers, version 1 one for each. The first of the names that can be read; undefined when none can.
 */
export async function readCgroup(
  cgroups: string,
  controller: string,
  names: readonly string[],
): Promise<string | undefined> {
  const mounts = parseMountInfo(await readFile("/proc/self/mountinfo", "utf8"));
  for (const line of cgroups.split("\n")) {
    const [, controllers = "", path = ""] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    const own = controllers.split(",");
    if (controllers !== "" && !own.includes(controller)) continue;
    const tree = mounts.find((mount) =>
      controllers === ""
        ? mount.type === "cgroup2"
        : mount.type === "cgroup" && mount.superOptions.includes(controller),
    );
    if (tree === undefined || mountOf(tree.target, mounts) !== tree) continue;
    for (const name of names) {
      const value = await readFile(`${tree.target}${path}/${name}`, "utf8").catch(() => undefined);
      if (value !== undefined) return value.trim();
    }
  }
  return undefined;
}
