import type { EngineFacts } from "./engine.ts";

/** `refuse`: agents must not run on this engine. `warn`: they may, and the operator should know. */
export interface EngineFinding {
  readonly level: "ok" | "warn" | "refuse";
  readonly detail: string;
  /** Command or advice; empty when none is needed. */
  readonly fix: string;
}

/**
 * Faults that were mended in some release of a part, by the releases that have the repair, one for each maintained
 * branch.
 */
interface Floor {
  readonly part: string;
  readonly faults: string;
  readonly repairedIn: readonly string[];
  /**
   * `refuse` where a program in a container can use the fault; `warn` where it takes a call that crabpot never makes.
   */
  readonly level: "warn" | "refuse";
  readonly effect: string;
}

/** Numbers from the projects' own advisories, as of November 2026. */
const floors: readonly Floor[] = [
  {
    part: "runc",
    faults: "CVE-2019-5736",
    repairedIn: ["1.0.0-rc7"],
    level: "refuse",
    effect: "a container can overwrite the runtime and become root of this machine",
  },
  {
    part: "runc",
    faults: "CVE-2021-30465",
    repairedIn: ["1.0.0-rc95"],
    level: "refuse",
    effect: "a container can have folders of this machine mounted by exchanging links",
  },
  {
    part: "runc",
    faults: "CVE-2024-21626",
    repairedIn: ["1.1.12"],
    level: "refuse",
    effect: "a container can reach this machine's files through a leaked descriptor",
  },
  {
    part: "runc",
    faults: "CVE-2025-31133, CVE-2025-52565, CVE-2025-52881",
    repairedIn: ["1.2.8", "1.3.3", "1.4.0-rc.3"],
    level: "refuse",
    effect: "a container can write to this machine's kernel settings while it is being set up",
  },
  {
    part: "containerd",
    faults: "CVE-2024-40635",
    repairedIn: ["1.6.38", "1.7.27", "2.0.4"],
    level: "warn",
    effect: "user numbers above 2147483647 run as root (crabpot gives out smaller ones)",
  },
  {
    part: "engine",
    faults: "CVE-2022-36109",
    repairedIn: ["20.10.18"],
    level: "warn",
    effect: "supplementary groups are set up wrongly",
  },
  {
    part: "engine",
    faults: "CVE-2026-41567, CVE-2026-42306",
    repairedIn: ["29.5.1"],
    level: "warn",
    effect:
      "copying files into a container (docker cp) can run its programs as root; never do it with crabpot's containers",
  },
];

/** Marks of packages by distributions, which mend old versions without changing their number. */
const distributionBuild = /[+~](ds|dfsg)|ubuntu|debian|[-+~.](deb|el|fc|amzn|azl|suse|lp)\d|-r\d+$|\.alpine/i;

/**
 * Judges an engine by its versions and settings, which only show what is known to be bad; attestation shows what holds
 * in a container. Returns at least one finding; `ok` when all is well.
 */
export function judgeEngine(facts: EngineFacts): EngineFinding[] {
  const found = [...judgeSettings(facts), ...floors.flatMap((floor) => judgePart(floor, facts))];
  if (found.length > 0) return found;
  return [{ level: "ok", detail: `${facts.kind} ${facts.version} has no known fault that matters here.`, fix: "" }];
}

function judgeSettings(facts: EngineFacts): EngineFinding[] {
  const found: EngineFinding[] = [];
  if (!facts.seccomp) {
    found.push({
      level: "refuse",
      detail: `${facts.kind} at ${facts.address} cannot filter system calls (no seccomp), so its containers reach the whole kernel.`,
      fix: "Use an engine and a kernel built with seccomp.",
    });
  }
  if (facts.missingLimits.length > 0) {
    found.push({
      level: "refuse",
      detail: `${facts.kind} at ${facts.address} says that it cannot limit: ${facts.missingLimits.join(", ")}.`,
      fix: "Enable these cgroup controllers in the kernel's command line (cgroup_enable=memory swapaccount=1), or use another engine.",
    });
  }
  if (facts.kind === "podman") found.push(podmanFinding(facts));
  if (facts.cgroupVersion !== "2" && facts.rootless) {
    found.push({
      level: "refuse",
      detail: `${facts.kind} at ${facts.address} is rootless on cgroup v1, where it accepts limits and does not apply them.`,
      fix: "Boot with systemd.unified_cgroup_hierarchy=1, or use an engine that runs as root.",
    });
  } else if (facts.cgroupVersion !== "2") {
    found.push({
      level: "warn",
      detail: "The machine uses cgroup v1: limits hold, but current engines are no longer tested with it.",
      fix: "Boot with systemd.unified_cgroup_hierarchy=1 when the machine allows it.",
    });
  }
  return found;
}

/**
 * Found by attestation of containers that Podman made from our description, and the same in the source of its current
 * versions: it accepts these fields of Docker's API and leaves them out.
 */
function podmanFinding(facts: EngineFacts): EngineFinding {
  return {
    level: "refuse",
    detail: `podman at ${facts.address} does not give what the profile asks for: through Docker's API it ignores the masked kernel files and the private cgroup and IPC namespaces, cannot bound the temporary folders, and adds writable ones.`,
    fix: "Use Docker: stop podman's socket, or name Docker's with DOCKER_HOST.",
  };
}

/**
 * A runtime of the configuration that the engine does not offer; nothing when it does. What it can do, the probe tells.
 */
export function judgeRuntime(facts: EngineFacts, runtime: string): EngineFinding[] {
  if (facts.runtimes.includes(runtime)) return [];
  const detail = `${facts.kind} at ${facts.address} has no runtime ${runtime}; it has: ${facts.runtimes.join(", ") || "none"}.`;
  return [{ level: "refuse", detail, fix: "Set sandbox.runtime in config.yaml, or add the runtime to the engine." }];
}

function judgePart(floor: Floor, facts: EngineFacts): EngineFinding[] {
  const version = versionOf(floor.part, facts);
  if (version === undefined || isRepaired(version, floor.repairedIn)) return [];
  const name = floor.part === "engine" ? facts.kind : floor.part;
  const wanted = floor.repairedIn.join(", ");
  if (parse(version) === undefined) {
    return [
      {
        level: "warn",
        detail: `The version of ${name}, ${version}, cannot be compared with ${wanted} (${floor.faults}).`,
        fix: `Make sure that ${name} is repaired for ${floor.faults}.`,
      },
    ];
  }
  if (distributionBuild.test(version)) {
    return [
      {
        level: "warn",
        detail: `${name} ${version} is older than ${wanted} (${floor.faults}: ${floor.effect}), but a distribution's build, which may have the repair.`,
        fix: `Install your distribution's updates and check in its advisories that they repair ${floor.faults}; the warning then stays, because the version does not show it.`,
      },
    ];
  }
  return [
    {
      level: floor.level,
      detail: `${name} ${version} has ${floor.faults}: ${floor.effect}.`,
      fix: `Update ${name} to ${wanted} or later.`,
    },
  ];
}

/** Version of a part. Podman has its own numbering, so Docker's minimums do not apply to it. */
function versionOf(part: string, facts: EngineFacts): string | undefined {
  if (part === "engine") return facts.kind === "docker" ? facts.version : undefined;
  return Object.entries(facts.components).find(([name]) => name.toLowerCase() === part)?.[1];
}

interface Version {
  readonly numbers: readonly [number, number, number];
  /** Number of the release candidate; infinite for a release. */
  readonly candidate: number;
}

function parse(text: string): Version | undefined {
  const match = /^v?(\d+)\.(\d+)(?:\.(\d+))?(?:-rc\.?(\d+))?/.exec(text);
  if (match === null) return undefined;
  const [, major, minor, patch = "0", candidate] = match;
  return {
    numbers: [Number(major), Number(minor), Number(patch)],
    candidate: candidate === undefined ? Number.POSITIVE_INFINITY : Number(candidate),
  };
}

/** True at or above the fix in its own branch; a branch without a fix is placed among those that have one. */
function isRepaired(text: string, repairedIn: readonly string[]): boolean {
  const version = parse(text);
  if (version === undefined) return false;
  const repairs = repairedIn.flatMap((repair) => parse(repair) ?? []);
  const [major, minor] = version.numbers;
  const own = repairs.find((repair) => repair.numbers[0] === major && repair.numbers[1] === minor);
  if (own !== undefined) return compare(version, own) >= 0;
  return repairs.every((repair) => compare(version, repair) >= 0);
}

function compare(one: Version, other: Version): number {
  for (const index of [0, 1, 2] as const) {
    if (one.numbers[index] !== other.numbers[index]) return one.numbers[index] - other.numbers[index];
  }
  return one.candidate === other.candidate ? 0 : one.candidate - other.candidate;
}
