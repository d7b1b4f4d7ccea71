import type { Memory } from "../item.ts";

/** How far has been read: what members said, what the agent said, and what was looked at for facts; and two moments. */
export interface Progress {
  readonly messages: number;
  readonly replies: number;
  readonly extracted: number;
  /** Days before this time have their notes. */
  readonly noted: number;
  /** When old memories were last removed; 0: never yet. */
  readonly cleaned: number;
}

/** Something that was said, by its place in the file. */
export interface Said extends Memory {
  readonly seq: number;
}

export interface Advance {
  readonly progress: Partial<Progress>;
  readonly supersedes?: readonly { readonly id: string; readonly by: string }[] | undefined;
}

/** What `list` shows. */
export interface ListQuery {
  readonly category?: string | undefined;
  readonly except?: string | undefined;
  /** Without those that were superseded. */
  readonly isCurrent?: boolean | undefined;
  readonly limit: number;
}
