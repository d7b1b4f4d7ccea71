import { createHash } from "node:crypto";

import type { SessionKind } from "../../domain/turns/session.ts";
import type { ProtectedFile } from "../../domain/rights/protected-file.ts";
import { agentEnvironment, containerPaths, egressProxy } from "../../protocol/paths.ts";
import type { ContainerEngine, CreateBody } from "../engine/engine.ts";
import type { MountGrant } from "../mounts/rules.ts";
import { hardenedHostConfig, hostName, searchPath, type ContainerUser, type SandboxSize } from "../profile/profile.ts";
import { AppError } from "../../lib/app-error.ts";
import { refuseUnsafeBody, refuseUnsafeImage } from "../profile/refusals.ts";

/** An image as the engine describes it. `packages`: what it has besides what the agent image has, in words. */
export type ImageFacts = Pick<NonNullable<Awaited<ReturnType<ContainerEngine["image"]>>>, "id" | "config"> & {
  readonly packages?: string | undefined;
};

/** Folders of the host that a container gets besides the granted ones; absolute paths. */
export interface ContainerFolders {
  /** The group's own folder; read-write, unless there is a scratch folder. */
  readonly group: string;
  /** Scratch folder of a sub-agent, its only writable folder of the host. */
  readonly scratch?: string | undefined;
  /** Folder that all groups can read. */
  readonly global: string;
  /** The mailbox's two sides. */
  readonly toAgent: string;
  readonly toHost: string;
}

/** A way out of the container: no interface, but a folder with a socket of the host's. */
export interface EgressMount {
  /** On the host; absolute. */
  readonly folder: string;
  /** The folder holds the certificates that programs in the container have to trust. */
  readonly certificates: boolean;
}

export interface ContainerWish {
  readonly image: ImageFacts;
  readonly user: ContainerUser;
  readonly instance: string;
  readonly group: string;
  readonly session: string;
  /** Kind of session; the group's main session by default. */
  readonly kind?: SessionKind | undefined;
  readonly generation: number;
  readonly sandbox: SandboxSize;
  readonly folders: ContainerFolders;
  /** Mounted over those in the group's folder, read-only. */
  readonly protectedFiles: readonly ProtectedFile[];
  readonly granted: readonly MountGrant[];
  /** Skills by name; `copy` is the host's folder with this content. */
  readonly skills?: readonly { readonly name: string; readonly copy: string }[] | undefined;
  /** Egress; none when absent. */
  readonly egress?: EgressMount | undefined;
}

export interface ContainerSpec {
  readonly name: string;
  readonly body: CreateBody;
  /** Value of the label `crabpot.spec`. */
  readonly hash: string;
}

/** Names of the labels by which containers are found again. */
export const containerLabels = {
  instance: "crabpot.instance",
  group: "crabpot.group",
  session: "crabpot.session",
  /** Kind of a session beside the group's main one. */
  kind: "crabpot.kind",
  generation: "crabpot.generation",
  /** The MCP server whose container it is; it has no session. */
  server: "crabpot.mcp",
  /** The plugin whose container it is; it has neither session nor group. */
  plugin: "crabpot.plugin",
  spec: "crabpot.spec",
} as const;

/**
 * Everything the engine is told to make a session's container: the hardened profile, the mounts, the constant
 * environment and the labels. Throws `engine_refused` when the image brings something that the profile cannot take
 * away, or when the result is not within the profile.
 */
export function containerSpec(wish: ContainerWish): ContainerSpec {
  refuseUnsafeImage(wish.image);
  const hash = specHash(wish);
  const body = createBody(wish, hash);
  refuseUnsafeBody(body);
  return { name: `crabpot-${wish.instance.slice(0, 8)}-${wish.session}-${wish.generation}`, body, hash };
}

/**
 * Identifies what a container is, apart from which life of the session it is: the same for two generations, another one
 * as soon as the image, a limit, the user, a mount, the folder behind a mount or a protected file differs. A hot
 * container whose label carries another hash must not be used again.
 */
export function specHash(wish: ContainerWish): string {
  const timeless = { ...wish, generation: 0, folders: { ...wish.folders, toAgent: "", toHost: "" } };
  const identities = identitiesOf(wish.granted);
  return createHash("sha256")
    .update(JSON.stringify([createBody(timeless, ""), identities, describeProtected(wish.protectedFiles)]))
    .digest("hex");
}

/** All in which a container with one set of protected files differs from one with another. */
export function describeProtected(files: readonly ProtectedFile[]): unknown {
  return files.map(({ name, source, sha256, mountPoint }) => ({ name, source, sha256, mountPoint }));
}

/** Returns the mounts with the identities by which they were judged. One with review shows another in a container. */
export function identitiesOf(
  granted: readonly MountGrant[],
): { readonly target: string; readonly device: string; readonly inode: string }[] {
  return granted.flatMap((mount) => [
    { target: placeOf(mount), device: mount.device, inode: mount.inode },
    ...(mount.protect ?? []).map(({ path, device, inode }) => ({ target: `${placeOf(mount)}/${path}`, device, inode })),
  ]);
}

function createBody(wish: ContainerWish, hash: string): CreateBody {
  return {
    Image: wish.image.id,
    User: `${wish.user.uid}:${wish.user.gid}`,
    Hostname: hostName,
    Env: environment(wish),
    Entrypoint: [],
    Cmd: ["node", containerPaths.agent],
    WorkingDir: wish.folders.scratch === undefined ? containerPaths.group : containerPaths.scratch,
    Healthcheck: { Test: ["NONE"] },
    Labels: {
      [containerLabels.instance]: wish.instance,
      [containerLabels.group]: wish.group,
      [containerLabels.session]: wish.session,
      ...(wish.kind !== undefined && wish.kind !== "main" && { [containerLabels.kind]: wish.kind }),
      [containerLabels.generation]: String(wish.generation),
      [containerLabels.spec]: hash,
    },
    // On top of the network mode: no resolver file of the host either, and half the time to start.
    NetworkDisabled: true,
    AttachStdin: false,
    OpenStdin: false,
    Tty: false,
    StopSignal: "SIGTERM",
    StopTimeout: 2,
    HostConfig: { ...hardenedHostConfig(wish.sandbox, wish.user), Mounts: binds(wish) },
  };
}

/** Runtimes whose containers see the host's file events. Sandboxed ones (gVisor, Kata) have a separate kernel. */
const sharesKernel: ReadonlySet<string> = new Set(["runc", "crun", "io.containerd.runc.v2"]);
const rescanMs = 200;

/** Constant and without secrets. */
function environment({ image, generation, sandbox, egress, folders }: ContainerWish): string[] {
  const constant = {
    PATH: searchPath,
    HOME: containerPaths.home,
    LANG: "C.UTF-8",
    TERM: "dumb",
    GIT_AUTHOR_NAME: "crabpot agent",
    GIT_AUTHOR_EMAIL: "agent@crabpot.invalid",
    GIT_COMMITTER_NAME: "crabpot agent",
    GIT_COMMITTER_EMAIL: "agent@crabpot.invalid",
    [agentEnvironment.generation]: String(generation),
    ...(!sharesKernel.has(sandbox.runtime) && { [agentEnvironment.rescanMs]: String(rescanMs) }),
    ...(folders.scratch !== undefined && { [agentEnvironment.workspace]: containerPaths.scratch }),
    ...(egress && egressEnvironment(egress)),
  };
  return withoutImageNames(image, constant);
}

/** Exactly these variables, whatever the image would add: a name without a value takes it away. */
export function withoutImageNames(image: ImageFacts, wanted: Readonly<Record<string, string>>): string[] {
  const ofImage = Array.isArray(image.config["Env"]) ? image.config["Env"].map(String) : [];
  const removed = ofImage
    .map((entry) => entry.split("=")[0] ?? "")
    .filter((name) => name !== "" && !Object.hasOwn(wanted, name));
  return [...Object.entries(wanted).map(([name, value]) => `${name}=${value}`), ...removed];
}

/** The names that programs look for; each of them knows only some. */
export function egressEnvironment({ certificates }: EgressMount): Record<string, string> {
  const proxy = `http://127.0.0.1:${egressProxy.port}`;
  const own = "localhost,127.0.0.1,::1";
  const variables: Record<string, string> = { NODE_USE_ENV_PROXY: "1" };
  const proxies = { http_proxy: proxy, https_proxy: proxy, all_proxy: proxy, no_proxy: own };
  for (const [name, value] of Object.entries(proxies)) {
    variables[name] = value;
    variables[name.toUpperCase()] = value;
  }
  if (certificates) for (const name of certificateVariables) variables[name] = certificateFile;
  return variables;
}

const certificateFile = `${containerPaths.egress}/${egressProxy.certificatesName}`;
const certificateVariables = [
  "CURL_CA_BUNDLE",
  "GIT_SSL_CAINFO",
  "NODE_EXTRA_CA_CERTS",
  "PIP_CERT",
  "REQUESTS_CA_BUNDLE",
  "SSL_CERT_FILE",
] as const;

function binds({ folders, protectedFiles, granted, egress, skills = [] }: ContainerWish): object[] {
  const { scratch } = folders;
  const readsOnly = scratch !== undefined;
  return [
    bind(folders.group, containerPaths.group, readsOnly),
    ...(scratch === undefined ? [] : [bind(scratch, containerPaths.scratch, false)]),
    ...protectedFiles.map(({ name, source }) => bind(source, `${containerPaths.group}/${name}`, true)),
    bind(folders.global, containerPaths.global, true),
    bind(folders.toAgent, containerPaths.toAgent, true),
    bind(folders.toHost, containerPaths.toHost, false),
    ...(egress ? [bind(egress.folder, containerPaths.egress, true)] : []),
    ...skills.map(({ name, copy }) => bind(copy, `${containerPaths.skills}/${name}`, true)),
    ...granted.flatMap((mount) => [
      mount.verdict === "review"
        ? reviewVolume(volumeOf(mount), placeOf(mount), readsOnly)
        : bind(mount.realPath, placeOf(mount), readsOnly || mount.verdict !== "rw"),
      ...(mount.protect ?? []).map(({ realPath, path }) => bind(realPath, `${placeOf(mount)}/${path}`, true)),
      ...(mount.covered ?? []).map(({ path, cover }) => bind(cover, `${placeOf(mount)}/${path}`, true)),
    ]),
  ];
}

function volumeOf({ target, review }: MountGrant): string {
  if (review !== undefined) return review.volume;
  throw new AppError("engine_refused", `The mount ${target} has no layer for what is changed in it.`);
}

/** A mount with review in a container's description. The options of its volume say what the engine mounts there. */
export function reviewVolume(name: string, target: string, readOnly: boolean): object {
  return { Type: "volume", Source: name, Target: target, ReadOnly: readOnly, VolumeOptions: { NoCopy: true } };
}

/** Returns the path inside the container. */
export function placeOf({ target }: MountGrant): string {
  return `${containerPaths.extra}/${target}`;
}

/** An object, never a string with colons; it must exist; nothing mounted below it comes along, now or later. */
export function bind(source: string, target: string, readOnly: boolean): object {
  return {
    Type: "bind",
    Source: source,
    Target: target,
    ReadOnly: readOnly,
    BindOptions: { Propagation: "rprivate", NonRecursive: true },
  };
}
