import { readFile, readlink, stat } from "node:fs/promises";

import type { ContainerCgroups } from "../cgroups/container-cgroups.ts";
import { parseMountInfo, type MountPoint } from "../../lib/files/mount-points.ts";

/** The kernel's view of a container's first process, which the container cannot forge. */
export interface HostView {
  /** Fields of `/proc/<pid>/status`. */
  readonly status: Readonly<Record<string, string>>;
  /** Kinds of namespaces (`net`, `mnt` …) that it shares with the host process. */
  readonly sharedNamespaces: readonly string[];
  readonly interfaces: readonly string[];
  readonly mounts: readonly MountPoint[];
  /** Limit enforced by the kernel; undefined when the cgroup files are unreadable. */
  readonly pidsMax: string | undefined;
  readonly memoryMax: string | undefined;
  /** `device:inode` of what is mounted at a target; only for those that could be examined. */
  readonly identities: Readonly<Record<string, string>>;
}

const namespaces = ["cgroup", "ipc", "mnt", "net", "pid", "uts"] as const;

/**
 * Looks at a running container from outside, through `/proc`. Undefined where that is not possible: the host process
 * may not (it is not root), or the engine runs in another machine, so that the number means nothing here.
 */
export async function readHostView(place: {
  readonly pid: number;
  /** Undefined when the process is none of the container. */
  readonly cgroups: ContainerCgroups | undefined;
  /** Paths in the container whose identity is wanted. */
  readonly targets: readonly string[];
}): Promise<HostView | undefined> {
  const { cgroups } = place;
  if (cgroups === undefined) return undefined;
  const process = `/proc/${place.pid}`;
  try {
    const [status, interfaces, mounts] = await Promise.all(
      ["status", "net/dev", "mountinfo"].map((name) => readFile(`${process}/${name}`, "utf8")),
    );
    const shared = await Promise.all(namespaces.map((kind) => sharesNamespace(process, kind)));
    return {
      status: fields(status ?? ""),
      interfaces: Object.keys(fields(interfaces ?? "")),
      mounts: parseMountInfo(mounts ?? ""),
      sharedNamespaces: namespaces.filter((_, index) => shared[index]),
      pidsMax: await cgroups.read("pids", ["pids.max"]),
      memoryMax: await cgroups.read("memory", ["memory.max", "memory.limit_in_bytes"]),
      identities: await identify(process, place.targets),
    };
  } catch {
    return undefined;
  }
}

/** Lines of `name: value`. */
function fields(text: string): Record<string, string> {
  const lines = text.split("\n").filter((line) => line.includes(":"));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")).trim(), line.slice(line.indexOf(":") + 1).trim()]),
  );
}

async function sharesNamespace(process: string, kind: string): Promise<boolean> {
  return (await readlink(`${process}/ns/${kind}`)) === (await readlink(`/proc/self/ns/${kind}`));
}

/** Mount points in a read-only root cannot be exchanged from inside, so looking through them is safe. */
async function identify(process: string, targets: readonly string[]): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const target of targets) {
    const facts = await stat(`${process}/root${target}`, { bigint: true }).catch(() => undefined);
    if (facts !== undefined) found[target] = `${facts.dev}:${facts.ino}`;
  }
  return found;
}
