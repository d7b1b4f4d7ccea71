import { type Origin, sortOrigins } from "../../domain/people/origin.ts";
import type { NewMemory } from "../../processes/memory-schemas.ts";

/** Names of categories: messages, notes of a day, lasting facts, or a chosen name such as `recipes`. */
export const categoryPattern = /^[a-z][a-z0-9_-]{0,31}$/;

/** With this begin the ids of daily notes, one for each day: `day-2026-01-15`. */
export const dayNotePrefix = "day-";

/** With this begin the ids of what the host makes of what is said, as told from what people and programs add. */
export const ownIds = { said: "said-", fact: "fact-", note: "note-", day: dayNotePrefix } as const;

/** Notes that main groups write for others too, and the name of the one file that they are in: no group can have it. */
export const globalNotes = "global";

/** Everything that has a part in a memory. */
export function originsOf({ origin, origins = [] }: Pick<NewMemory, "origin" | "origins">): readonly Origin[] {
  return sortOrigins([origin, ...origins]);
}
