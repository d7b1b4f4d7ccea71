import { constants } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";

import { listDayFiles, openLogFile } from "../../src/records/audit/log-files.ts";
import { type AuditRecord, parseRecord } from "../../src/records/audit/record.ts";
import { AppError } from "../../src/lib/app-error.ts";

const lineFeed = 0x0a;

/**
 * The audit log of a host that goes on writing it. What was read once is not read again: hundreds of attacks ask for
 * the newest records.
 */
export class FollowedLog {
  readonly #folder: string;
  #records: AuditRecord[] = [];
  /** Bytes read, by file. */
  readonly #read = new Map<string, number>();
  #reading: Promise<void> = Promise.resolve();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Records behind the one with this number, oldest first. Throws AppError `audit_broken` at a line that is not a
   * record.
   */
  async after(seq: number): Promise<AuditRecord[]> {
    const reading = this.#reading.then(() => this.#readOn());
    this.#reading = reading.catch(() => undefined);
    await reading;
    const last = this.#records.findLastIndex((record) => record.seq <= seq);
    return this.#records.slice(last + 1);
  }

  async #readOn(): Promise<void> {
    for (const name of await listDayFiles(this.#folder)) {
      const bytes = await this.#newBytesOf(name);
      const end = bytes.lastIndexOf(lineFeed) + 1;
      if (end === 0) continue;
      const records = linesOf(bytes.subarray(0, end)).map(
        (line) => parseRecord(line) ?? fail(join(this.#folder, name)),
      );
      this.#records.push(...records);
      this.#read.set(name, (this.#read.get(name) ?? 0) + end);
    }
  }

  async #newBytesOf(name: string): Promise<Buffer> {
    const handle = await openLogFile(join(this.#folder, name), constants.O_RDONLY);
    const { size } = await handle.stat();
    const start = this.#read.get(name) ?? 0;
    // A file is made longer only; of one that an attack has put in its place the difference is of no use.
    if (size < start) await handle.close().then(() => fail(join(this.#folder, name)));
    if (size > start) return buffer(handle.createReadStream({ start, end: size - 1 }));
    await handle.close();
    return Buffer.alloc(0);
  }
}

function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let begun = 0, end = bytes.indexOf(lineFeed); end >= 0; begun = end + 1, end = bytes.indexOf(lineFeed, begun)) {
    lines.push(bytes.subarray(begun, end));
  }
  return lines;
}

function fail(path: string): never {
  throw new AppError("audit_broken", `${path} holds a line that is not an audit record, or is shorter than it was.`);
}
