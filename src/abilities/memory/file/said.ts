import type { MemoryFile } from "./memory-file.ts";
import { type ItemRow, itemColumns, toMemory } from "./rows.ts";
import type { SaidItem } from "../../../processes/memory-schemas.ts";

const isUnextracted = "seq > (select value from facts where name = 'extracted') and id glob ? || '*'";

/** Newest messages not yet examined for facts, of memories with this id prefix, in order. */
export function unextracted(file: MemoryFile, prefix: string, limit: number): SaidItem[] {
  const text = `select ${itemColumns} from items where ${isUnextracted} order by seq desc limit ?`;
  return inOrder(file.read((prepare) => prepare(text).all(prefix, limit)));
}

/** Number of these that the agent did not say itself, counted up to 10,000. */
export function countUnextracted(file: MemoryFile, prefix: string): number {
  const where = `${isUnextracted} and origin <> 'agent'`;
  const text = `select count(*) from (select 1 from items where ${where} limit 10000)`;
  return file.read((prepare) => prepare(text).pluck().get(prefix)) as number;
}

/** Newest messages within a time range, in order. */
export function saidBetween(file: MemoryFile, from: number, to: number, limit: number): SaidItem[] {
  const where = "category = 'conversation' and time >= ? and time < ? and superseded_by is null";
  const text = `select ${itemColumns} from items where ${where} order by time desc, seq desc limit ?`;
  return inOrder(file.read((prepare) => prepare(text).all(from, to, limit)));
}

function inOrder(newestFirst: unknown[]): SaidItem[] {
  return (newestFirst as ItemRow[]).toReversed().map((row) => ({ ...toMemory(row), seq: row.seq }));
}
