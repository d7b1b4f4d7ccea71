import { type Origin, sortOrigins } from "../../domain/people/origin.ts";

/** Category: messages, notes of a day, lasting facts, or a chosen name such as `recipes`. */
export type Category = string;

export const categoryPattern = /^[a-z][a-z0-9_-]{0,31}$/;

/** With this begin the ids of daily notes, one for each day: `day-2026-01-15`. */
export const dayNotePrefix = "day-";

/** With this begin the ids of what the host makes of what is said, as told from what people and programs add. */
export const ownIds = { said: "said-", fact: "fact-", note: "note-", day: dayNotePrefix } as const;

/** Notes that main groups write for others too, and the name of the one file that they are in: no group can have it. */
export const globalNotes = "global";

/** Input for a memory. */
export interface NewMemory {
  /** Known already: the memory is replaced. */
  readonly id: string;
  readonly category: Category;
  readonly text: string;
  /** When it was said, milliseconds since 1970. */
  readonly time: number;
  /** Display name of the speaker. */
  readonly sender: string;
  /** Origin of its words. */
  readonly origin: Origin;
  /** Ids of the messages that it was taken from. */
  readonly sources: readonly string[];
  /** People whose words it holds, as `channel:id`; none from the CLI and imports. */
  readonly people?: readonly string[] | undefined;
  /** Further origins, such as those of the turn that said it. */
  readonly origins?: readonly Origin[] | undefined;
  /** Content of an attached picture. */
  readonly photo?: string | undefined;
}

/** One thing that a group remembers. */
export interface Memory extends NewMemory {
  /** The memory that replaced this one, which is kept but no longer found. */
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
  /** Earliest time, in milliseconds since 1970. */
  readonly since?: number | undefined;
  /** Time before which it was said. */
  readonly until?: number | undefined;
  /** Name of the speaker, in any case. */
  readonly who?: string | undefined;
  /** True for memories to leave out. */
  readonly isHidden?: ((memory: Pick<Memory, "id" | "time">) => boolean) | undefined;
}
