import type { Memory } from "../item.ts";

/** Progress of readers: members' messages, the agent's, fact extraction, and two times. */
export interface ReaderProgress {
  readonly messages: number;
  readonly replies: number;
  readonly extracted: number;
  /** Days before this time have their notes. */
  readonly noted: number;
  /** When old memories were last removed; 0: never yet. */
  readonly cleaned: number;
}

/** Something that was said, by its place in the file. */
export interface SaidItem extends Memory {
  readonly seq: number;
}

export interface Advance {
  readonly progress: Partial<ReaderProgress>;
  readonly supersedes?: readonly { readonly id: string; readonly by: string }[] | undefined;
}

/** Query of `list`. */
export interface ListQuery {
  readonly category?: string | undefined;
  readonly except?: string | undefined;
  /** Leaves out superseded memories. */
  readonly isCurrent?: boolean | undefined;
  readonly limit: number;
}
