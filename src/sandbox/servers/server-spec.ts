import { createHash } from "node:crypto";

import type { ProtectedFile } from "../../domain/rights/protected-file.ts";
import type { ServerOwner } from "./server-owner.ts";
import { containerPaths } from "../../protocol/paths.ts";
import type { CreateBody } from "../engine/engine.ts";
import {
  bind,
  containerLabels as labels,
  describeProtected,
  egressEnvironment,
  type EgressMount,
  type ImageFacts,
  withoutImageNames,
} from "../launch/spec.ts";
import { type ContainerUser, hardenedHostConfig, hostName, type SandboxSize, searchPath } from "../profile/profile.ts";
import { refuseUnsafeServerBody } from "../profile/refusals.ts";

/** Specification of the container of an MCP server or a plugin. */
export interface ServerWish {
  readonly instance: string;
  readonly owner: ServerOwner;
  readonly image: ImageFacts;
  /** True for the agent's image, whose starter runs the server after the container was checked. */
  readonly hasStarter: boolean;
  readonly user: ContainerUser;
  readonly sandbox: SandboxSize;
  /** Empty: what the image starts by itself, with `args`. */
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Persistent data folder; without one it keeps nothing. */
  readonly dataFolder?: string | undefined;
  /** Installed package to run, if any. */
  readonly packageFolder?: string | undefined;
  readonly groupFolder?: { readonly path: string; readonly readOnly: boolean } | undefined;
  /** Mounted over those in the group's folder. */
  readonly protectedFiles: readonly ProtectedFile[];
  readonly egress?: EgressMount | undefined;
}

export interface ServerSpec extends Pick<ServerWish, "hasStarter"> {
  readonly body: CreateBody;
  /** Value of the label `crabpot.spec`. */
  readonly hash: string;
  /** Mounts of host folders, for records. */
  readonly mounts: readonly { readonly realPath: string; readonly target: string; readonly verdict: "ro" | "rw" }[];
}

/**
 * Everything the engine is told to make the container of an MCP server or a plugin: the profile of agents, with an open
 * standard input instead of a mailbox. Throws `engine_refused` when the result is not within the profile.
 */
export function serverSpec(wish: ServerWish): ServerSpec {
  const hash = createHash("sha256")
    .update(JSON.stringify([createBody(wish, ""), describeProtected(wish.protectedFiles)]))
    .digest("hex");
  const body = createBody(wish, hash);
  refuseUnsafeServerBody(body);
  const mounts = mountsOf(wish).map(({ source, target, readOnly }) => {
    const verdict = readOnly ? ("ro" as const) : ("rw" as const);
    return { realPath: source, target, verdict };
  });
  return { body, hash, hasStarter: wish.hasStarter, mounts };
}

function createBody(wish: ServerWish, hash: string): CreateBody {
  return {
    Image: wish.image.id,
    User: `${wish.user.uid}:${wish.user.gid}`,
    Hostname: hostName,
    Env: environment(wish),
    Entrypoint: [],
    Cmd: commandOf(wish),
    WorkingDir: wish.dataFolder === undefined ? containerPaths.package : containerPaths.data,
    Healthcheck: { Test: ["NONE"] },
    Labels: {
      [labels.instance]: wish.instance,
      [labels.group]: wish.owner.group ?? "",
      [wish.owner.kind === "plugin" ? labels.plugin : labels.server]: wish.owner.server,
      [labels.spec]: hash,
    },
    NetworkDisabled: true,
    AttachStdin: true,
    OpenStdin: true,
    // The host's connection is the only one: a server whose host is gone reads the end of its input.
    StdinOnce: true,
    Tty: false,
    StopSignal: "SIGTERM",
    StopTimeout: 2,
    HostConfig: {
      ...hardenedHostConfig(wish.sandbox, wish.user),
      Mounts: mountsOf(wish).map(({ source, target, readOnly }) => bind(source, target, readOnly)),
    },
  };
}

function commandOf({ hasStarter, command, args, image }: ServerWish): readonly string[] {
  if (hasStarter) return ["python3", "-I", containerPaths.starter, ...command, ...args];
  if (command.length > 0) return [...command, ...args];
  const own = listOf(image.config["Entrypoint"]);
  return [...own, ...(args.length > 0 ? args : listOf(image.config["Cmd"]))];
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** Returns the environment. config.yaml cannot change egress or the search path. */
function environment({ image, env, egress }: ServerWish): string[] {
  const wanted = {
    LANG: "C.UTF-8",
    ...env,
    PATH: searchPath,
    HOME: containerPaths.home,
    ...(egress && egressEnvironment(egress)),
  };
  return withoutImageNames(image, wanted);
}

interface ServerMount {
  readonly source: string;
  readonly target: string;
  readonly readOnly: boolean;
}

function mountsOf({ dataFolder, packageFolder, groupFolder, protectedFiles, egress }: ServerWish): ServerMount[] {
  const { data, package: ofPackage, group, egress: wayOut } = containerPaths;
  return [
    ...(dataFolder === undefined ? [] : [{ source: dataFolder, target: data, readOnly: false }]),
    ...(packageFolder === undefined ? [] : [{ source: packageFolder, target: ofPackage, readOnly: true }]),
    ...(groupFolder ? [{ source: groupFolder.path, target: group, readOnly: groupFolder.readOnly }] : []),
    ...(groupFolder
      ? protectedFiles.map(({ name, source }) => ({ source, target: `${group}/${name}`, readOnly: true }))
      : []),
    ...(egress ? [{ source: egress.folder, target: wayOut, readOnly: true }] : []),
  ];
}
