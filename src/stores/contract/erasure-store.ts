import type { ErasedCounts, Erasing } from "../../domain/erasure.ts";
import type { StoredAttachment } from "../../domain/chats/message.ts";
import type { MemberId } from "../../domain/people/person.ts";
import type { StepBody } from "../../domain/turns/turn.ts";

/** Known facts about a person before an erasure. */
export interface ErasureOutline {
  /** In which anything of theirs is. */
  readonly groups: readonly string[];
  readonly names: readonly string[];
  readonly counts: ErasedCounts;
}

/** Messages of a group, a window of rows at a time. */
export interface SaidWindow {
  readonly own: readonly string[];
  readonly others: readonly string[];
  /** Ids of their messages, as the channel has them. */
  readonly ids: readonly string[];
  /** Files that came with their messages. */
  readonly files: readonly StoredAttachment[];
  readonly next: number | undefined;
}

/** Returns a step without somebody's words; undefined when it holds none. */
export type RewriteStep = (
  body: StepBody,
  of: { readonly isTheirs: boolean; readonly messageIds: ReadonlySet<string> },
) => StepBody | undefined;

/** Which of a group's rows to look at, and how. */
export interface GroupErasing extends Erasing {
  readonly group: string;
  readonly rewrite: RewriteStep;
}

/** Numbers of erased items, and blobs without references. */
export interface Erased {
  readonly counts: ErasedCounts;
  /** Copies of files that were on their way out. */
  readonly outgoing: readonly string[];
  readonly blobs: readonly string[];
}

/**
 * Erases a person's words for good. Derived data goes before the messages, so that an interrupted erasure can be
 * repeated. Ids stay, so that duplicates are still recognized.
 */
export interface ErasureStore {
  outline(people: readonly MemberId[]): Promise<ErasureOutline>;
  said(of: {
    readonly group: string;
    readonly people: readonly MemberId[];
    readonly after: number;
  }): Promise<SaidWindow>;
  /** Turns of these groups that have not ended, oldest first. */
  unfinished(groups: readonly string[]): Promise<readonly { readonly turn: string; readonly group: string }[]>;
  /** Sessions of these groups. */
  sessions(groups: readonly string[]): Promise<readonly string[]>;
  /** Everything of a group that agents and the host made of their words. */
  made(erasing: GroupErasing): Promise<Erased>;
  /** Erases their own messages everywhere, and their names. */
  own(people: readonly MemberId[]): Promise<ErasedCounts>;
  /** Forgets these blobs as far as no step refers to them. Gives those. */
  forgetBlobs(sha256s: readonly string[]): Promise<readonly string[]>;
  /** An erasure begins: until `ended` it is not done. `digest` says who it is without saying it. */
  begin(digest: string, at: number): Promise<void>;
  ended(digest: string, at: number): Promise<void>;
  /** Erasures that began and did not end. */
  open(): Promise<readonly { readonly digest: string; readonly begunAt: number }[]>;
  /**
   * Writes the files anew, so that nothing that was removed is in them or in their logs. Rejects while another process
   * reads them.
   */
  compact(): Promise<void>;
  /** Goes up when steps were rewritten in this process: what was read before may be gone. */
  rewrites(): number;
}
