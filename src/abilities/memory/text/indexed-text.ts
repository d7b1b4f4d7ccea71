import type { NewMemory } from "../../../processes/memory-schemas.ts";

/** Names of months, as dates use them. */
export const months = "January February March April May June July August September October November December".split(
  " ",
);

/** In UTC. */
function formatDate(time: number): string {
  const date = new Date(time);
  return `${date.getUTCDate()} ${months[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}

/** Searched fields of a memory. */
export type Spoken = Pick<NewMemory, "time" | "sender" | "text" | "photo">;

/**
 * A memory as its words are searched: `[8 May 2023] Ann: look [photo: a dog]`. People ask for dates and for who said
 * it.
 */
export function indexedText(memory: Spoken): string {
  return `[${formatDate(memory.time)}] ${embeddedText(memory)}`;
}

/** The same without the date, of which vectors make nothing: with it, fewer memories are found by their meaning. */
export function embeddedText({ sender, text, photo }: Spoken): string {
  const speaker = sender === "" ? "" : `${sender}: `;
  const picture = photo === undefined || photo === "" ? "" : ` [photo: ${photo}]`;
  return `${speaker}${text}${picture}`;
}
