import type { ProbeReport } from "../../protocol/messages.ts";
import { compareInspection } from "./body.ts";
import type { HostView } from "./host.ts";
import { compareSeenMounts } from "./mounts.ts";
import type { CreateBody, Inspection } from "../engine/engine.ts";

/** Everything that is known about a container that has just started. */
export interface ContainerEvidence {
  /** The engine's inspection, taken while it runs. */
  readonly inspection: Inspection;
  /** The body of the engine's create request. */
  readonly body: CreateBody;
  /** The report of the probe in the container; undefined for one that is taken over: what runs in it by now may lie. */
  readonly probe: ProbeReport | undefined;
  /** The view from outside; undefined where there is none. */
  readonly hostView: HostView | undefined;
  /** The folders that were granted, by their target path in the container, as they were judged. */
  readonly folders: readonly { readonly target: string; readonly device: string; readonly inode: string }[];
}

/** Checks that the probe must have attempted; a report without one does not come from our probe. */
export const requiredAttempts = [
  "add_key",
  "bpf",
  "chmod-setgid",
  "chmod-setuid",
  "chroot",
  "clone-user",
  "connect-containerd",
  "connect-dns",
  "connect-docker",
  "connect-metadata",
  "connect-podman",
  "creat-setuid",
  "fchmod-setgid",
  "fchmod-setuid",
  "fchmodat-setgid",
  "fchmodat-setuid",
  "fchmodat2-setuid",
  "finit_module",
  "fsopen",
  "init_module",
  "io_uring_setup",
  "kexec_load",
  "keyctl",
  "mknod-device",
  "mknod-setuid",
  "mknodat-setuid",
  "modify_ldt",
  "mount",
  "mq_open",
  "msgget",
  "open-setuid",
  "open-terminal",
  "open_by_handle_at",
  "open_tree",
  "openat-setuid",
  "openat-tmpfile-setuid",
  "openat2-setuid",
  "perf_event_open",
  "pivot_root",
  "process_vm_readv",
  "ptrace",
  "read-kernel-memory",
  "sethostname",
  "setns-network",
  "shmget",
  "socket-alg",
  "socket-bluetooth",
  "socket-can",
  "socket-netlink-audit",
  "socket-netlink-netfilter",
  "socket-packet",
  "socket-raw-inet",
  "socket-raw-inet6",
  "socket-rds",
  "socket-sctp",
  "socket-tipc",
  "socket-vsock",
  "socket-xdp",
  "swapon",
  "unshare-mount",
  "unshare-network",
  "unshare-user",
  "userfaultfd",
  "write-core-pattern",
  "write-release-agent",
  "write-sysrq",
  "write-uevent-helper",
] as const;

/** Names that Linux gives its unconfigured tunnels in every new network namespace when their modules are loaded. */
const idleTunnels = new Set([
  "erspan0",
  "gre0",
  "gretap0",
  "ip6_vti0",
  "ip6gre0",
  "ip6tnl0",
  "ip_vti0",
  "sit0",
  "tunl0",
]);

/** Names that the engine adds to any container's environment. */
const engineNames = ["HOSTNAME"] as const;

const noCapabilities = /^0+$/;

/**
 * Compares what runs with what was meant, by three witnesses: the engine, the probe inside, the kernel outside. Each
 * difference is one sentence; an empty list means that the container may be used. Anything else means it must be
 * removed.
 */
export function attest({ inspection, body, probe, hostView, folders }: ContainerEvidence): string[] {
  const inside = probe === undefined ? [] : compareProbe(probe, body);
  const outside = hostView === undefined ? [] : compareHostView(hostView, body, folders);
  return [
    ...compareInspection(inspection, body).map((sentence) => `Engine: ${sentence}`),
    ...inside.map((sentence) => `Inside: ${sentence}`),
    ...outside.map((sentence) => `Outside: ${sentence}`),
  ];
}

function compareProbe(probe: ProbeReport, body: CreateBody): string[] {
  const { uid, gid } = userOf(body);
  const mounts = probe.mounts.map((mount) => ({ ...mount, options: mount.options.split(",") }));
  return [
    ...unless(probe.uid === uid, `it runs as uid ${probe.uid} instead of ${uid}.`),
    ...unless(probe.gid === gid, `it runs as gid ${probe.gid} instead of ${gid}.`),
    ...unless(
      probe.groups.every((group) => group === gid),
      `it is in the groups ${probe.groups.join(", ")}.`,
    ),
    ...compareCapabilities(probe.capabilities),
    ...unless(probe.noNewPrivs === 1, "programs can gain privileges (no-new-privileges is off)."),
    ...unless(probe.seccomp === 2, "no system call filter is in force."),
    ...compareInterfaces(probe.interfaces),
    ...unless(probe.rootReadOnly, "the root is writable."),
    ...compareSeenMounts(mounts, body),
    ...compareNames(probe.environment, body),
    ...compareAttempts(probe.attempts),
  ];
}

function compareHostView(view: HostView, body: CreateBody, folders: ContainerEvidence["folders"]): string[] {
  const { uid, gid } = userOf(body);
  const { status } = view;
  const hostConfig = body["HostConfig"] as { PidsLimit: number; Memory: number };
  const capabilities = Object.fromEntries(Object.entries(status).filter(([name]) => /^Cap[A-Z]/.test(name)));
  const mounts = view.mounts.map((mount) => ({
    target: mount.target,
    type: mount.type,
    readOnly: mount.options.includes("ro"),
    options: [...mount.options, ...mount.superOptions],
  }));
  return [
    ...unless(allAre(status["Uid"], uid), `it runs as uid ${status["Uid"] ?? "unknown"} instead of ${uid}.`),
    ...unless(allAre(status["Gid"], gid), `it runs as gid ${status["Gid"] ?? "unknown"} instead of ${gid}.`),
    ...unless(status["Groups"] === "" || allAre(status["Groups"], gid), `it is in the groups ${status["Groups"]}.`),
    ...compareCapabilities(capabilities),
    ...unless(status["NoNewPrivs"] === "1", "programs can gain privileges (no-new-privileges is off)."),
    ...unless(status["Seccomp"] === "2", "no system call filter is in force."),
    ...view.sharedNamespaces.map((kind) => `it shares the host's ${kind} namespace.`),
    ...compareInterfaces(view.interfaces),
    ...compareSeenMounts(mounts, body),
    ...compareLimit("number of processes", view.pidsMax, hostConfig.PidsLimit),
    ...compareLimit("memory", view.memoryMax, hostConfig.Memory),
    ...folders.flatMap(({ target, device, inode }) => {
      const identity = view.identities[target];
      if (identity === undefined || identity === `${device}:${inode}`) return [];
      return [`a different folder from the one that was checked is mounted at ${target}.`];
    }),
  ];
}

function userOf(body: CreateBody): { uid: number; gid: number } {
  const [uid, gid] = String(body["User"]).split(":").map(Number);
  return { uid: uid ?? 0, gid: gid ?? 0 };
}

/** Whether a line of numbers (real, effective, saved …) holds nothing but this one. */
function allAre(line: string | undefined, wanted: number): boolean {
  return (
    line !== undefined &&
    line.trim() !== "" &&
    line
      .trim()
      .split(/\s+/)
      .every((text) => Number(text) === wanted)
  );
}

function compareCapabilities(capabilities: Readonly<Record<string, string>>): string[] {
  const needed = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"];
  const held = needed.filter((name) => !noCapabilities.test(capabilities[name] ?? ""));
  return held.map((name) => `it has capabilities (${name} ${capabilities[name] ?? "unknown"}).`);
}

function compareInterfaces(interfaces: readonly string[]): string[] {
  const others = interfaces.map((name) => name.trim()).filter((name) => name !== "lo" && !idleTunnels.has(name));
  return others.map((name) => `it has the network interface ${name}.`);
}

function compareNames(names: readonly string[], body: CreateBody): string[] {
  const intended = (body["Env"] as readonly string[])
    .filter((entry) => entry.includes("="))
    .map((entry) => entry.split("=")[0]);
  const foreign = names.filter((name) => !intended.includes(name) && !engineNames.some((known) => known === name));
  const missing = intended.filter((name) => name !== undefined && !names.includes(name));
  return [
    ...foreign.map((name) => `the environment has ${name}.`),
    ...missing.map((name) => `the environment lacks ${name ?? ""}.`),
  ];
}

function compareAttempts(attempts: ProbeReport["attempts"]): string[] {
  const tried = new Set(attempts.map((attempt) => attempt.name));
  return [
    ...attempts
      .filter((attempt) => attempt.outcome === "open")
      .map((attempt) => `${attempt.name} is not refused (${attempt.detail}).`),
    ...requiredAttempts.filter((name) => !tried.has(name)).map((name) => `the probe did not try ${name}.`),
  ];
}

/** Some kernels round a limit down to whole pages; more than asked for is never right. */
function compareLimit(what: string, actual: string | undefined, intended: number): string[] {
  if (actual === undefined) return [];
  return unless(
    Number(actual) > 0 && Number(actual) <= intended,
    `the ${what} is limited to ${actual} instead of ${intended}.`,
  );
}

function unless(holds: boolean, sentence: string): string[] {
  return holds ? [] : [sentence];
}
