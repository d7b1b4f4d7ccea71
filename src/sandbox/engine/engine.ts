import type { Readable, Writable } from "node:stream";

/**
 * The body of the Engine API's `POST /containers/create`, as far as we use it. Kept as plain JSON: it is hashed and
 * compared.
 */
export type CreateBody = { readonly [key: string]: unknown };

export interface EngineFacts {
  /** `docker` or `podman`. */
  readonly kind: string;
  readonly version: string;
  readonly apiVersion: string;
  /** Versions of the parts that the engine reports: `containerd`, `runc`, `crun` … */
  readonly components: Readonly<Record<string, string>>;
  readonly cgroupVersion: string;
  readonly rootless: boolean;
  readonly userNamespaces: boolean;
  readonly seccomp: boolean;
  readonly runtimes: readonly string[];
  /** Limits of the profile that the engine itself says it cannot apply: `memory`, `swap`, `processes`, `CPU`. */
  readonly missingLimits: readonly string[];
  readonly kernel: string;
  /** Socket path or URL, for messages. */
  readonly address: string;
}

export interface ContainerSummary {
  readonly id: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly running: boolean;
}

/** The engine's answer to `inspect`, raw. */
export type Inspection = { readonly [key: string]: unknown };

/** Result of a container's end. */
export interface ContainerExit {
  readonly code: number;
  readonly oomKilled: boolean;
}

/**
 * The streams of a container that reads what we write. Both end when it does, or the engine goes away; destroy one to
 * detach.
 */
export interface ContainerStreams {
  /** Standard input; ending it closes only that direction. Its errors may be ignored. */
  readonly input: Writable;
  readonly output: Readable;
}

/** The life of a container. */
interface ContainerControl {
  create(name: string, body: CreateBody): Promise<string>;
  start(id: string): Promise<void>;
  /** SIGTERM, then SIGKILL after the seconds given. */
  stop(id: string, graceSeconds: number): Promise<void>;
  kill(id: string): Promise<void>;
  /** Takes all processor time from a container that runs, and gives it back. Doing it twice succeeds. */
  pause(id: string): Promise<void>;
  unpause(id: string): Promise<void>;
  /** Removes it with its anonymous volumes, running or not. */
  remove(id: string): Promise<void>;
  /** Resolves when the container has ended; rejects if it does not exist or the engine goes away. */
  waitForExit(id: string, signal: AbortSignal): Promise<ContainerExit>;
}

/** A volume of the engine, by which a file system that it mounts itself gets into containers. */
export interface EngineVolume {
  readonly driver: string;
  readonly options: Readonly<Record<string, string>>;
}

/** The volumes of an engine. */
interface VolumeControl {
  /** Makes a volume of the driver `local`. One of the same name stays as it is. */
  createVolume(name: string, options: EngineVolume["options"], labels: Readonly<Record<string, string>>): Promise<void>;
  volume(name: string): Promise<EngineVolume | undefined>;
  /** Names of the volumes with these labels. */
  volumes(labels: Readonly<Record<string, string>>): Promise<string[]>;
  /** False: it stays, because a container has it. Removing one that is gone succeeds. */
  removeVolume(name: string): Promise<boolean>;
}

/**
 * A container engine. Errors are AppErrors: `engine_unavailable` when it does not answer, `engine_refused` with its own
 * words when it does and says no. Stopping, killing and removing what has ended or is gone
 * succeeds.
 */
export interface ContainerEngine extends AsyncDisposable, ContainerControl, VolumeControl {
  facts(signal?: AbortSignal): Promise<EngineFacts>;
  inspect(id: string): Promise<Inspection | undefined>;
  list(labels: Readonly<Record<string, string>>): Promise<ContainerSummary[]>;
  /** The container's stdout and stderr from now on, or only one, as a byte stream. Destroy it to detach. */
  attach(id: string, only?: "stderr"): Promise<Readable>;
  /** stdin and stdout from now on of a container that was made with its stdin open. */
  converse(id: string): Promise<ContainerStreams>;
  /** The image's ID (`sha256:…`) and configuration; undefined when it is missing. */
  image(
    reference: string,
  ): Promise<
    { id: string; labels: Readonly<Record<string, string>>; config: Readonly<Record<string, unknown>> } | undefined
  >;
}
