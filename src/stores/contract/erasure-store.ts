import type { ErasedCounts, Erasing } from "../../domain/erasure.ts";
import type { StoredAttachment } from "../../domain/chats/message.ts";
import type { MemberId } from "../../domain/people/person.ts";
import type { StepBody } from "../../domain/turns/turn.ts";

/** What is known of somebody before anything is erased. */
export interface ErasureOutline {
  /** In which anything of theirs is. */
  readonly groups: readonly string[];
  readonly names: readonly string[];
  readonly counts: ErasedCounts;
}

/** What was said in a group, a window of rows at a time. */
export interface SaidWindow {
  readonly own: readonly string[];
  readonly others: readonly string[];
  /** Ids of their messages, as the channel has them. */
  readonly ids: readonly string[];
  /** Files that came with their messages. */
  readonly files: readonly StoredAttachment[];
  readonly next: number | undefined;
}

/** How a step is without somebody's words; undefined: it holds none. */
export type RewriteStep = (
  body: StepBody,
  of: { readonly isTheirs: boolean; readonly messageIds: ReadonlySet<string> },
) => StepBody | undefined;

/** Which of a group's rows to look at, and how. */
export interface GroupErasing extends Erasing {
  readonly group: string;
  readonly rewrite: RewriteStep;
}

/** What is gone, and what has lost its last reference. */
export interface Erased {
  readonly counts: ErasedCounts;
  /** Copies of files that were on their way out. */
  readonly outgoing: readonly string[];
  readonly blobs: readonly string[];
}

/**
 * Takes somebody's words out of a store for good. What was made of their messages goes before the messages: whoever is
 * killed in the middle can tell it again afterwards. Ids stay, so that a message that comes again is still a duplicate.
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
  /** What they said themselves, everywhere, and what they are called. */
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
