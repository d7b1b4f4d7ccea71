import { containerPaths } from "../../protocol/paths.ts";
import type { CreateBody } from "../engine/engine.ts";
import { isWithin } from "../../lib/files/paths.ts";
import { maskedPaths, readonlyPaths } from "../profile/profile.ts";

/** A mount as it is seen in a container, from inside or outside. */
export interface SeenMount {
  readonly target: string;
  readonly readOnly: boolean;
  readonly type: string;
  readonly options: readonly string[];
}

/** Standard mounts of every container: their type, and whether they must be read-only. */
const standard: readonly { readonly target: RegExp; readonly type: RegExp; readonly readOnly: boolean }[] = [
  { target: /^\/$/, type: /./, readOnly: true },
  { target: /^\/proc$/, type: /^proc$/, readOnly: false },
  { target: /^\/sys$/, type: /^sysfs$/, readOnly: true },
  { target: /^\/sys\/fs\/cgroup$/, type: /^(cgroup2|tmpfs)$/, readOnly: false },
  { target: /^\/sys\/fs\/cgroup\/[\w,=-]+$/, type: /^cgroup$/, readOnly: true },
  { target: /^\/dev$/, type: /^tmpfs$/, readOnly: false },
  { target: /^\/dev\/mqueue$/, type: /^mqueue$/, readOnly: false },
  { target: /^\/dev\/shm$/, type: /^tmpfs$/, readOnly: false },
  // A rootless engine cannot make device files and shows the host's harmless ones instead.
  { target: /^\/dev\/(null|zero|full|random|urandom|tty)$/, type: /./, readOnly: false },
  { target: /^\/etc\/(hostname|hosts|resolv\.conf)$/, type: /./, readOnly: true },
  { target: /^((\/usr)?\/sbin\/docker-init|\/run\/podman-init|\/dev\/init)$/, type: /./, readOnly: true },
];

const temporaryFolders = [containerPaths.home, containerPaths.temporary] as const;

/** Mounts that no kernel is without: a list that lacks one of them is no list of a container of ours. */
const everywhere = [
  "/",
  "/dev/pts",
  "/proc",
  "/proc/sys",
  "/proc/cmdline",
  "/proc/interrupts",
  "/sys/fs",
  "/sys/kernel",
] as const;

interface IntendedBind {
  readonly target: string;
  readonly readOnly: boolean;
}

/**
 * The mounts that are really there against those of the body: each must be explained, and each asked for must be there.
 */
export function compareSeenMounts(seen: readonly SeenMount[], body: CreateBody): string[] {
  const hostConfig = body["HostConfig"] as { Mounts: readonly { Target: string; ReadOnly: boolean }[] };
  const binds = hostConfig.Mounts.map(({ Target, ReadOnly }) => ({ target: Target, readOnly: ReadOnly }));
  const intended = new Set<string>([...binds.map((bind) => bind.target), ...temporaryFolders]);
  return [
    ...uncovered(seen)
      .filter((mount) => !intended.has(mount.target))
      .flatMap(judgeSeen),
    ...binds.flatMap((bind) => judgeBind(bind, seen, intended)),
    ...temporaryFolders.flatMap((path) => judgeTmpfs(path, seen)),
    ...everywhere
      .filter((path) => !seen.some((mount) => mount.target === path))
      .map((path) => `${path} is left as it is.`),
  ];
}

/**
 * Returns the reachable mounts: the engine's own terminals lie below their mask, and the last mount at a path is on
 * top.
 */
function uncovered(seen: readonly SeenMount[]): SeenMount[] {
  const last = seen.findLastIndex((mount) => mount.target === "/dev/pts");
  return seen.filter((mount, index) => mount.target !== "/dev/pts" || index === last);
}

function judgeSeen(mount: SeenMount): string[] {
  const { target, type, readOnly } = mount;
  if (maskedPaths.some((path) => path === target)) return isMask(mount) ? [] : [`${target} is not masked (${type}).`];
  if (readonlyPaths.some((path) => path === target)) return readOnly ? [] : [`${target} is writable.`];

  const rule = standard.find((candidate) => candidate.target.test(target) && candidate.type.test(type));
  if (rule === undefined) return [`There is a mount at ${target} (${type}) that was not asked for.`];
  return rule.readOnly && !readOnly ? [`${target === "/" ? "The root" : target} is writable.`] : [];
}

/** A folder is masked by an empty read-only tmpfs, a file by /dev/null, which is on a tmpfs or the host's devtmpfs. */
function isMask({ type }: SeenMount): boolean {
  return type === "tmpfs" || type === "devtmpfs";
}

/** Inside a writable one there may be what was asked for: its protected paths. */
function judgeBind(bind: IntendedBind, seen: readonly SeenMount[], intended: ReadonlySet<string>): string[] {
  const found = seen.filter((mount) => mount.target === bind.target);
  const below = seen.filter((mount) => !intended.has(mount.target) && isWithin(mount.target, bind.target));
  const faults = below.map((mount) => `There is a mount at ${mount.target}, inside ${bind.target}.`);
  if (found.length !== 1) return [...faults, `${bind.target} is mounted ${found.length} times instead of once.`];
  if (found[0]?.readOnly === bind.readOnly) return faults;
  return [
    ...faults,
    `${bind.target} is ${bind.readOnly ? "writable, but was to be read-only" : "read-only, but was to be writable"}.`,
  ];
}

function judgeTmpfs(path: string, seen: readonly SeenMount[]): string[] {
  const found = seen.filter((mount) => mount.target === path);
  const [mount] = found;
  if (mount === undefined || found.length > 1 || mount.type !== "tmpfs") return [`${path} is not its own tmpfs.`];
  const needed = ["nosuid", "nodev", ...(path === containerPaths.temporary ? ["noexec"] : [])];
  const missing = needed.filter((option) => !mount.options.includes(option));
  const unbounded = ["size=", "nr_inodes="].filter((option) => !mount.options.some((text) => text.startsWith(option)));
  return [...missing, ...unbounded].map((option) => `${path} is mounted without ${option.replace("=", "")}.`);
}
