/**
 * Mounts with `access: review`: the agent sees the folder writable, and what it changes lies in a layer of the group
 * over the real folder. Nothing gets from the layer into the folder but by `ReviewLayer.apply`.
 */

export type ReviewEntryKind = "file" | "folder" | "link";

/** An entry on one of the two sides: in the real folder, or as the agent sees it. */
export interface ReviewEntry {
  readonly entry: ReviewEntryKind;
  /** Digest of a file's bytes or a link's target; undefined for a folder and for a file that is too large. */
  readonly sha256?: string | undefined;
  /** Bytes of a file; 0 otherwise. */
  readonly size: number;
  /** Permission bits as `apply` leaves or sets them: never setuid, setgid or sticky. */
  readonly mode: number;
  /** Target of a link; hostile. */
  readonly link?: string | undefined;
  /** True for a file that begins with `#!`. */
  readonly isScript?: true | undefined;
}

/** A difference between the real folder and what the agent sees. */
export interface ReviewChange {
  /** Below the mount, with `/` between names. Hostile; if the name is refused, made visible and perhaps not unique. */
  readonly path: string;
  readonly kind: "added" | "changed" | "deleted";
  /** The entry's kind for the agent; a deleted one's former kind. */
  readonly entry: ReviewEntryKind;
  readonly before?: ReviewEntry | undefined;
  readonly after?: ReviewEntry | undefined;
  /**
   * Unified diff without file names, where both sides are small texts (or one is missing). Hostile: to be escaped
   * wherever it is shown.
   */
  readonly text?: string | undefined;
  /** Facts that people should know, each the end of a sentence that begins with the path: `is executable` … */
  readonly remarks: readonly string[];
  /** Reason why it cannot be applied, as the end of a sentence that begins with the path. It can be discarded. */
  readonly refused?: string | undefined;
  /** True when the real entry has changed since the agent changed its own: `apply` leaves both as they are. */
  readonly conflict?: boolean | undefined;
}

/** All differences at one moment, sorted by path. */
export interface ReviewDiff {
  readonly changes: readonly ReviewChange[];
  /**
   * True when there are more changes than are listed. Then only listed ones can be applied, named by their paths.
   */
  readonly cut: boolean;
  /** SHA-256, in hex, over every fact of `changes`: the same digest, the same changes. */
  readonly digest: string;
}

/** The outcome of `apply`. Paths are those of the diff. */
export interface ApplyResult {
  /** Now in the real folder, and no longer in the layer. */
  readonly applied: readonly ReviewChange[];
  /** Wanted, and still in the layer; `reason` ends a sentence that begins with the path. */
  readonly kept: readonly { readonly path: string; readonly reason: string }[];
}

export interface DiscardResult {
  /** No longer in the layer. */
  readonly discarded: readonly ReviewChange[];
}

/** A decision about changes. */
export interface ReviewDecision {
  /** Paths of the diff, each with all below it; undefined: all of the changes. */
  readonly paths: readonly string[] | undefined;
  /** Digest of the diff that people were shown. */
  readonly digest: string;
  /**
   * Called once, after everything was checked and before the first change of a file: for the record of what is done.
   * If it rejects, nothing is done.
   */
  readonly record: (changes: readonly ReviewChange[]) => Promise<void>;
}

/**
 * The changes of a group's agents in one mount with review. Undecided changes outlive containers and the host; all
 * containers of the group see the same.
 *
 * `apply` and `discard` end the group's idle containers with this mount first, because a layer may not change while a
 * container has it. Both throw `conflict` when a turn is at work there (passing), when the digest is not that of the
 * changes as they are now, or when the diff was cut and no paths were named; `not_found` for a path without changes.
 * They end in the middle only if the host dies: the rest is done at its next start.
 */
export interface ReviewLayer {
  readonly group: string;
  /** Path below `/workspace/extra`. */
  readonly target: string;
  /** The real folder. */
  readonly source: string;
  diff(signal?: AbortSignal): Promise<ReviewDiff>;
  apply(decision: ReviewDecision): Promise<ApplyResult>;
  discard(decision: ReviewDecision): Promise<DiscardResult>;
}

/** The review layers of all groups. */
export interface ReviewLayers {
  /** The layers of a group: those of its mounts with review, and older ones with undecided changes. */
  of(group: string): Promise<readonly ReviewLayer[]>;
  /**
   * Whether something may have changed in any of the group's layers since its last `diff`; true when unknown. Cheap
   * enough for the beginning and the end of every turn. Call it at both: while nothing has changed, it also moves on
   * the moment from which a change of the real folder by others is a conflict.
   */
  mayHaveChanged(group: string): Promise<boolean>;
}
