import type { ContainerSummary, EngineFacts } from "../engine.ts";

/* The engine's answers, as far as we read them. Optional fields are absent in Podman or an old Docker. */

export interface VersionAnswer {
  readonly Version: string;
  readonly ApiVersion: string;
  readonly KernelVersion?: string;
  readonly Components?: readonly { readonly Name: string; readonly Version: string }[] | null;
}

export interface SystemAnswer {
  readonly CgroupVersion?: string;
  readonly SecurityOptions?: readonly string[] | null;
  readonly Runtimes?: Readonly<Record<string, unknown>> | null;
  /** Reported by Podman here; only newer versions list it among the security options as well. */
  readonly Rootless?: boolean;
  readonly MemoryLimit?: boolean;
  readonly SwapLimit?: boolean;
  readonly PidsLimit?: boolean;
  readonly CpuCfsQuota?: boolean;
  readonly KernelVersion?: string;
}

export interface ContainerAnswer {
  readonly Id: string;
  readonly Names: readonly string[];
  readonly Labels?: Readonly<Record<string, string>> | null;
  readonly State: string;
}

export interface ExitAnswer {
  readonly StatusCode: number;
  readonly Error?: { readonly Message?: string } | null;
}

export interface ImageAnswer {
  readonly Id: string;
  readonly Config?: { readonly Labels?: Readonly<Record<string, string>> | null; readonly [key: string]: unknown };
}

/** The state in an inspection. */
export interface StateAnswer {
  readonly Status: string;
  readonly ExitCode: number;
  readonly OOMKilled: boolean;
}

export function readFacts(version: VersionAnswer, system: SystemAnswer, address: string): EngineFacts {
  const components = (version.Components ?? []).map(
    ({ Name, Version }) => [componentName(Name), componentVersion(Version)] as const,
  );
  const security = (system.SecurityOptions ?? []).map((option) => /name=([^,]+)/.exec(option)?.[1] ?? option);
  return {
    kind: kindOf(version.Components),
    version: version.Version,
    apiVersion: version.ApiVersion,
    components: Object.fromEntries(components),
    // An engine too old to say it knows only the first version.
    cgroupVersion: system.CgroupVersion ?? "1",
    rootless: security.includes("rootless") || system.Rootless === true,
    userNamespaces: security.includes("userns"),
    seccomp: security.includes("seccomp"),
    runtimes: Object.keys(system.Runtimes ?? {}),
    missingLimits: missingLimits(system),
    kernel: system.KernelVersion ?? version.KernelVersion ?? "",
    address,
  };
}

/** Which engine it is, by the parts that it names. */
export function kindOf(components: VersionAnswer["Components"]): EngineFacts["kind"] {
  return components?.some(({ Name }) => componentName(Name) === "podman engine") === true ? "podman" : "docker";
}

/** Only what is denied counts: an engine that says nothing is judged by what its containers show. */
function missingLimits(system: SystemAnswer): string[] {
  const said = [
    ["memory", system.MemoryLimit],
    ["swap", system.SwapLimit],
    ["processes", system.PidsLimit],
    ["CPU", system.CpuCfsQuota],
  ] as const;
  return said.filter(([, has]) => has === false).map(([limit]) => limit);
}

export function readSummary(container: ContainerAnswer): ContainerSummary {
  return {
    id: container.Id,
    name: (container.Names[0] ?? "").replace(/^\//, ""),
    labels: container.Labels ?? {},
    running: container.State === "running" || container.State === "paused",
  };
}

/** `runc` stays; Podman's `OCI Runtime (crun)` becomes `crun`. */
function componentName(name: string): string {
  return (/\(([^()]+)\)/.exec(name)?.[1] ?? name).toLowerCase();
}

/** `1.1.5+ds1` stays; Podman's `crun version 1.8.1 commit: …` becomes `1.8.1`. */
function componentVersion(text: string): string {
  return /version (\S+)/.exec(text)?.[1] ?? text;
}

/** The part of the answer about a volume that is used. */
export interface VolumeAnswer {
  readonly Driver: string;
  readonly Options?: Readonly<Record<string, string>> | null;
}

/** Engines write `null` for no volumes. */
export interface VolumeListAnswer {
  readonly Volumes?: readonly { readonly Name: string }[] | null;
}
