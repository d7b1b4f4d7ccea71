import { type Origin, sortOrigins } from "../../domain/people/origin.ts";

/** What was said, notes of a day, lasting facts, or a name of one's own such as `recipes`. */
export type Category = string;

export const categoryPattern = /^[a-z][a-z0-9_-]{0,31}$/;

/** With this begin the ids of daily notes, one for each day: `day-2026-01-15`. */
export const dayNotePrefix = "day-";

/** With this begin the ids of what the host makes of what is said, as told from what people and programs add. */
export const ownIds = { said: "said-", fact: "fact-", note: "note-", day: dayNotePrefix } as const;

/** Notes that main groups write for others too, and the name of the one file that they are in: no group can have it. */
export const globalNotes = "global";

/** What a memory is made from. */
export interface NewMemory {
  /** Known already: the memory is replaced. */
  readonly id: string;
  readonly category: Category;
  readonly text: string;
  /** When it was said, milliseconds since 1970. */
  readonly time: number;
  /** Who said it, as people call them. */
  readonly sender: string;
  /** Where its words come from. */
  readonly origin: Origin;
  /** Ids of the messages that it was taken from. */
  readonly sources: readonly string[];
  /** Whose words it holds, as `channel:id`; the CLI and imports name nobody. */
  readonly people?: readonly string[] | undefined;
  /** What else had a part in it, such as what a turn had read that said it. */
  readonly origins?: readonly Origin[] | undefined;
  /** What a picture that came with it shows. */
  readonly photo?: string | undefined;
}

/** One thing that a group remembers. */
export interface Memory extends NewMemory {
  /** The memory that took its place: this one is kept and no longer found. */
  readonly supersededBy?: string | undefined;
}

/** Everything that has a part in a memory. */
export function originsOf({ origin, origins = [] }: Pick<NewMemory, "origin" | "origins">): readonly Origin[] {
  return sortOrigins([origin, ...origins]);
}

/** A memory that a search has found. */
export interface Found {
  readonly memory: Memory;
  readonly score: number;
}

/** Which memories count in a search. */
export interface Filter {
  /** Said at this time or later, milliseconds since 1970. */
  readonly since?: number | undefined;
  /** Said before this time. */
  readonly until?: number | undefined;
  /** Said by somebody of this name, in any case of letters. */
  readonly who?: string | undefined;
  /** Left out of what is found. */
  readonly isHidden?: ((memory: Pick<Memory, "id" | "time">) => boolean) | undefined;
}
