import type { Origin } from "../../../domain/people/origin.ts";
import { indexedText, type Spoken } from "../text/indexed-text.ts";
import { isMostlyHan, termsOf } from "../text/terms.ts";
import type { Memory, NewMemory } from "../../../processes/memory-schemas.ts";

/** A row of `items` as it is read for people. */
export interface ItemRow {
  readonly seq: number;
  readonly id: string;
  readonly category: string;
  readonly text: string;
  readonly time: number;
  readonly sender: string;
  readonly origin: string;
  readonly sources: string;
  readonly photo: string | null;
  readonly superseded_by: string | null;
  readonly people: string;
  readonly origins: string;
}

export const itemColumns =
  "seq, id, category, text, time, sender, origin, sources, photo, superseded_by, people, origins";

export function toMemory(row: ItemRow): Memory {
  return {
    id: row.id,
    category: row.category,
    text: row.text,
    time: row.time,
    sender: row.sender,
    origin: row.origin as Origin,
    sources: JSON.parse(row.sources) as string[],
    ...(row.people !== "[]" && { people: JSON.parse(row.people) as string[] }),
    ...(row.origins !== "[]" && { origins: JSON.parse(row.origins) as Origin[] }),
    ...(row.photo !== null && { photo: row.photo }),
    ...(row.superseded_by !== null && { supersededBy: row.superseded_by }),
  };
}

/** Column values of a new or replaced item. */
export function toColumns(memory: NewMemory): Readonly<Record<string, unknown>> {
  return {
    ...memory,
    sources: JSON.stringify(memory.sources),
    people: JSON.stringify(memory.people ?? []),
    origins: JSON.stringify(memory.origins ?? []),
    photo: memory.photo ?? null,
    terms: joinedTerms(memory),
    han: isMostlyHan(memory.text) ? 1 : 0,
  };
}

/** Each term of a memory as often as it occurs: what FTS5 counts. */
export function joinedTerms(memory: Spoken): string {
  return [...termsOf(indexedText(memory))].map(([term, count]) => Array<string>(count).fill(term).join(" ")).join(" ");
}

/**
 * Each term that `joinedTerms` has joined, where the same ones stand side by side. A map of a hundred thousand texts
 * would take longer.
 */
export function eachTerm(joined: string, visit: (term: string, often: number) => void): void {
  if (joined === "") return;
  let last = "";
  let often = 0;
  for (const term of joined.split(" ")) {
    if (term === last) {
      often += 1;
      continue;
    }
    if (often > 0) visit(last, often);
    last = term;
    often = 1;
  }
  visit(last, often);
}

export function toBlob(vector: Float32Array): Buffer {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
}

/**
 * The bytes themselves where they lie so that they can be read as numbers, otherwise a copy. Undefined for a vector of
 * another length.
 */
export function fromBlob(blob: Buffer | null, dimensions: number): Float32Array | undefined {
  if (blob === null || blob.length !== dimensions * 4) return undefined;
  if (blob.byteOffset % 4 === 0) return new Float32Array(blob.buffer, blob.byteOffset, dimensions);
  return new Float32Array(new Uint8Array(blob).buffer);
}
