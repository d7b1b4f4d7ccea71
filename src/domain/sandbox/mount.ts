import type { Access } from "../chats/group.ts";

/**
 * A file in a writable mount that programs of the host's user run by themselves or in passing, or that says what they
 * run.
 */
export interface ExecutionPoint {
  /** Path below `/workspace/extra`. */
  readonly target: string;
  /** Below the mount; hostile, but without control characters. */
  readonly path: string;
  /** Kind of program that runs it: one of `executionPointKinds`, such as `git-hook` or `editor`. */
  readonly kind: string;
}

/** One as a look has found it. */
export interface SeenExecutionPoint extends ExecutionPoint {
  /** Differs when the point has changed. */
  readonly state: string;
  /** Known for files that were read, and links. */
  readonly content?: PointContent | undefined;
}

/** Content of an execution point. */
export interface PointContent {
  readonly bytes: number;
  /** In hex; undefined for what looks like a secret. */
  readonly sha256?: string | undefined;
  /** Undefined when it is long, no text, looks like a secret, or too much was kept already. Hostile. */
  readonly text?: string | undefined;
}

/** A folder as it appears in a container. */
export interface MountedFolder {
  readonly path: string;
  readonly access: Access;
  /** Paths in it that look like secrets, and are covered; hostile. Left out: none. */
  readonly covered?: readonly string[] | undefined;
  /** Paths in it that stay read-only although it is writable; hostile. Left out: none. */
  readonly protect?: readonly string[] | undefined;
}

/** A mount that a group asks for and does not get. `reason` is a whole sentence. */
export interface RefusedMount {
  readonly group: string;
  readonly source: string;
  readonly target: string;
  readonly reason: string;
}

/** Change of an execution point since the last look. */
export interface ExecutionPointChange extends ExecutionPoint {
  readonly change: "added" | "changed" | "removed";
}

/** The same with what it is now, for people who look at it. */
export interface ShownPointChange extends ExecutionPointChange, Omit<PointContent, "text" | "bytes"> {
  readonly bytes?: number | undefined;
  /** A unified diff, where both sides are known as text. Hostile. */
  readonly diff?: string | undefined;
}

/** A file that belonged to an agent and had the setuid or setgid bit. */
export interface SetIdFile {
  /** Path of the mount or of the group's folder in the container. */
  readonly folder: string;
  /** Below that folder. */
  readonly path: string;
  /** Octal, as it was found. */
  readonly mode: string;
}

/** Contents of a container's mounts at one moment. */
export interface MountSighting {
  /** Reason why the container is unusable now, as a sentence; undefined while usable. */
  readonly refused: string | undefined;
  /** Reason to make a new container for the next turn, as a sentence: something is not covered or protected yet. */
  readonly outdated?: string | undefined;
  /** Those whose bits were taken away. */
  readonly setIdFiles: readonly SetIdFile[];
  /** By target and path. */
  readonly executionPoints: ReadonlyMap<string, SeenExecutionPoint>;
  /** Files that look as if they held secrets: targets and paths below them. */
  readonly secrets: readonly { readonly target: string; readonly path: string }[];
}
