import { join } from "node:path";

import type { AuditIndex } from "../../../stores/contract/store.ts";
import { listDayFiles, readLines } from "../log-files.ts";
import { parseRecord, recordHash } from "../record.ts";

const batchSize = 500;

type IndexEntry = Parameters<AuditIndex["append"]>[0][number];

/**
 * Brings the store's index up to the log, which is ahead of it when the host died between the two. Returns a sentence
 * when the record that the store remembers as the last one stands differently in the log.
 */
export async function catchUpIndex(options: {
  readonly folder: string;
  readonly index: AuditIndex;
  readonly witness: { readonly seq: number; readonly hash: string } | undefined;
  readonly lastSeq: number;
}): Promise<string | undefined> {
  const { folder, index, witness, lastSeq } = options;
  const known = witness?.seq ?? 0;
  if (lastSeq < known) return undefined;
  let mismatch: string | undefined;
  let last = known;
  let batch: IndexEntry[] = [];
  for await (const entry of entriesFrom(folder, known)) {
    if (entry.seq === known && entry.hash !== witness?.hash)
      mismatch = `record ${known} differs from what the store remembers`;
    if (entry.seq <= last) continue;
    last = entry.seq;
    batch.push(entry);
    if (batch.length < batchSize) continue;
    await index.append(batch);
    batch = [];
  }
  if (batch.length > 0) await index.append(batch);
  return mismatch;
}

/** Records from the file on that holds `seq`; lines that are no records are left to the verification. */
async function* entriesFrom(folder: string, seq: number): AsyncGenerator<IndexEntry> {
  const files = await listDayFiles(folder);
  let first = files.length - 1;
  while (first > 0 && (await firstSeq(join(folder, files[first] ?? ""))) > seq) first -= 1;
  for (const file of files.slice(Math.max(first, 0))) {
    for await (const { bytes, end } of readLines(join(folder, file))) {
      const record = end === "line-feed" ? parseRecord(bytes) : undefined;
      if (!record) continue;
      yield { seq: record.seq, hash: recordHash(bytes), type: record.type, group: record.group ?? undefined, file };
    }
  }
}

async function firstSeq(path: string): Promise<number> {
  for await (const { bytes } of readLines(path)) return parseRecord(bytes)?.seq ?? Infinity;
  return Infinity;
}
