import { join } from "node:path";

import { AppError } from "../../lib/app-error.ts";
import { dayOf, listDayFiles, readLines } from "./log-files.ts";
import { type AuditRecord, parseRecord } from "./record.ts";
import { ownCommand } from "../../lib/process/own-command.ts";

export interface ReadOptions {
  readonly folder: string;
  /** Earliest time, in milliseconds since 1970. */
  readonly since?: number | undefined;
  readonly group?: string | undefined;
  /** Number of newest records, held in memory. */
  readonly last?: number | undefined;
}

/**
 * The records of a log, oldest first, as they stand there: nothing is verified. Without `last` in constant memory. What
 * is being written just now is left out; throws AppError `audit_broken` at a line that is not a record.
 */
export async function* readAudit(options: ReadOptions): AsyncGenerator<AuditRecord> {
  const { folder, since, last } = options;
  const sinceDay = since === undefined ? "" : new Date(since).toISOString().slice(0, 10);
  const files = (await listDayFiles(folder)).filter((file) => (dayOf(file) ?? "") >= sinceDay);
  if (last !== undefined) {
    yield* await newest(files, options, last);
    return;
  }
  for (const file of files) yield* recordsOf(file, options, file === files.at(-1));
}

/** Goes back file by file only as far as needed. */
async function newest(files: readonly string[], options: ReadOptions, last: number): Promise<AuditRecord[]> {
  let found: AuditRecord[] = [];
  for (const file of files.toReversed()) {
    const wanted = last - found.length;
    if (wanted <= 0) break;
    const ofFile: AuditRecord[] = [];
    for await (const record of recordsOf(file, options, file === files.at(-1))) {
      ofFile.push(record);
      if (ofFile.length > wanted) ofFile.shift();
    }
    found = [...ofFile, ...found];
  }
  return found;
}

async function* recordsOf(
  file: string,
  { folder, since, group }: ReadOptions,
  isNewest: boolean,
): AsyncGenerator<AuditRecord> {
  const from = since === undefined ? "" : new Date(since).toISOString();
  for await (const { bytes, number, end } of readLines(join(folder, file))) {
    if (end === "file" && isNewest) return;
    const record = end === "line-feed" ? parseRecord(bytes) : undefined;
    if (!record) {
      throw new AppError("audit_broken", `Line ${number} of ${join(folder, file)} is not an audit record.`, {
        fix: ownCommand("audit verify"),
      });
    }
    if (record.ts >= from && (group === undefined || record.group === group)) yield record;
  }
}
