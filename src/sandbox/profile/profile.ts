import { containerPaths } from "../../protocol/paths.ts";
import { seccompProfile } from "./seccomp.ts";
import { mebibyte } from "../../lib/text/bytes.ts";

/** Container size and runtime, from the section `sandbox`. */
export interface SandboxSize {
  readonly runtime: string;
  readonly memoryMb: number;
  readonly cpus: number;
  readonly pids: number;
}

/** Returns the size alone, which containers are compared by, without other settings. */
export function sandboxSize({ memoryMb, cpus, pids, runtime }: SandboxSize): SandboxSize {
  return { memoryMb, cpus, pids, runtime };
}

/** The user that all processes of a container run as, by number: the image has no accounts for it. */
export interface ContainerUser {
  readonly uid: number;
  readonly gid: number;
}

/** Search path of programs: the image's usual places, with nothing that an agent could put in front. */
export const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** The same in every container, so that it says nothing about the machine or the group. */
export const hostName = "crabpot";

/**
 * Files and folders of the kernel that read as empty: the engine's own list, what tells one machine from another or
 * leads to devices, and pseudo-terminals: how many there may be (`kernel.pty.max`) counts for the whole machine, so
 * that one container could leave none for anybody. Node, git and Python work without them. What a kernel does not have
 * is skipped by the runtime.
 */
export const maskedPaths = [
  "/dev/pts",
  "/proc/acpi",
  "/proc/asound",
  "/proc/buddyinfo",
  "/proc/cmdline",
  "/proc/config.gz",
  "/proc/consoles",
  "/proc/crypto",
  "/proc/devices",
  "/proc/diskstats",
  "/proc/dma",
  "/proc/driver",
  "/proc/interrupts",
  "/proc/iomem",
  "/proc/ioports",
  "/proc/irq",
  "/proc/kallsyms",
  "/proc/kcore",
  "/proc/key-users",
  "/proc/keys",
  "/proc/latency_stats",
  "/proc/loadavg",
  "/proc/locks",
  "/proc/misc",
  "/proc/modules",
  "/proc/pagetypeinfo",
  "/proc/partitions",
  "/proc/pressure",
  "/proc/sched_debug",
  "/proc/schedstat",
  "/proc/scsi",
  "/proc/slabinfo",
  "/proc/softirqs",
  "/proc/swaps",
  "/proc/sys/fs/dentry-state",
  "/proc/sys/fs/file-nr",
  "/proc/sys/fs/inode-nr",
  "/proc/sys/fs/inode-state",
  "/proc/sys/fs/quota",
  "/proc/sys/kernel/random/boot_id",
  "/proc/timer_list",
  "/proc/timer_stats",
  "/proc/tty",
  "/proc/version",
  "/proc/vmallocinfo",
  "/proc/vmstat",
  "/proc/zoneinfo",
  "/sys/block",
  "/sys/class",
  "/sys/devices/virtual",
  "/sys/firmware",
  "/sys/fs",
  "/sys/kernel",
  "/sys/module",
] as const;

/** The engine's own list, without what is masked: visible to programs, never writable. */
export const readonlyPaths = ["/proc/bus", "/proc/fs", "/proc/sys", "/proc/sysrq-trigger"] as const;

/**
 * Open files as most programs need them; no core dumps, which would hold what the agent was told; and no file above
 * 256 MiB, sparse ones included. Not the number of processes: that limit counts per user of the whole machine.
 */
export const resourceLimits = [
  { Name: "core", Soft: 0, Hard: 0 },
  { Name: "fsize", Soft: 256 * mebibyte, Hard: 256 * mebibyte },
  { Name: "nofile", Soft: 4096, Hard: 4096 },
] as const;

/** The part of a create body's `HostConfig` that is the same for all containers but for its size and its user. */
export function hardenedHostConfig(size: SandboxSize, user: ContainerUser): Record<string, unknown> {
  const memory = size.memoryMb * mebibyte;
  return {
    CapDrop: ["ALL"],
    SecurityOpt: ["no-new-privileges", `seccomp=${JSON.stringify(seccompProfile)}`],
    NetworkMode: "none",
    ReadonlyRootfs: true,
    Tmpfs: temporaryFolders(size.memoryMb, user),
    ShmSize: Math.min(64 * mebibyte, memory / 8),
    IpcMode: "private",
    CgroupnsMode: "private",
    // The same number: with more, the difference would be swap.
    Memory: memory,
    MemorySwap: memory,
    // When the machine itself runs out of memory, agents end before the host process does.
    OomScoreAdj: 500,
    PidsLimit: size.pids,
    NanoCpus: Math.round(size.cpus * 1e9),
    Init: true,
    Ulimits: resourceLimits,
    LogConfig: { Type: "none", Config: {} },
    MaskedPaths: maskedPaths,
    ReadonlyPaths: readonlyPaths,
    RestartPolicy: { Name: "no", MaximumRetryCount: 0 },
    Runtime: size.runtime,
  };
}

/** Both live in the container's memory and count against its limit. Only the home folder may hold programs. */
function temporaryFolders(memoryMb: number, { uid, gid }: ContainerUser): Record<string, string> {
  const shared = `rw,nosuid,nodev,size=${Math.min(512, Math.floor(memoryMb / 4))}m,nr_inodes=65536,uid=${uid},gid=${gid}`;
  return {
    [containerPaths.home]: `${shared},mode=0700,exec`,
    [containerPaths.temporary]: `${shared},mode=1777,noexec`,
  };
}
