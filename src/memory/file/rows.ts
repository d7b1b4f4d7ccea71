import type { Origin } from "../../domain/origin.ts";
import type { Memory, NewMemory } from "../item.ts";
import { indexedText } from "../text/indexed-text.ts";
import { isMostlyHan, termsOf } from "../text/terms.ts";

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

/** What stands in the columns of a new or replaced item. */
export function toColumns(memory: NewMemory): Readonly<Record<string, unknown>> {
  return {
    ...memory,
    sources: JSON.stringify(memory.sources),
    people: JSON.stringify(memory.people ?? []),
    origins: JSON.stringify(memory.origins ?? []),
    photo: memory.photo ?? null,
    terms: joinTerms(termsOf(indexedText(memory))),
    han: isMostlyHan(memory.text) ? 1 : 0,
  };
}

/** Each term as often as it occurs: what FTS5 counts. */
function joinTerms(terms: ReadonlyMap<string, number>): string {
  return [...terms].map(([term, count]) => Array<string>(count).fill(term).join(" ")).join(" ");
}

export function splitTerms(joined: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const term of joined.split(" ")) if (term !== "") counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}

export function toBlob(vector: Float32Array): Buffer {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
}

/** A copy: what SQLite hands over may lie anywhere. Undefined for a vector of another length. */
export function fromBlob(blob: Buffer | null, dimensions: number): Float32Array | undefined {
  if (blob === null || blob.length !== dimensions * 4) return undefined;
  return new Float32Array(new Uint8Array(blob).buffer);
}
