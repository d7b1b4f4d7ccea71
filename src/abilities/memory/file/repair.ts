import { existsSync, renameSync } from "node:fs";

import SQLite from "better-sqlite3";

import { toError } from "../../../lib/app-error.ts";
import { MemoryFile } from "./memory-file.ts";
import { type ItemRow, itemColumns, toMemory } from "./rows.ts";
import type { NewMemory } from "../../../processes/memory-schemas.ts";

/** Fault of a memory file by SQLite's check; undefined when intact. Read-only. */
export function faultOfFile(path: string): string | undefined {
  try {
    using closing = new DisposableStack();
    const database = new SQLite(path, { readonly: true, timeout: 5_000 });
    closing.defer(() => database.close());
    const found: unknown = database.pragma("quick_check(1)", { simple: true });
    if (found !== "ok") return String(found);
    database.prepare("select count(*) from items where superseded_by = ''").get();
    return undefined;
  } catch (error) {
    return toError(error).message;
  }
}

/** Result of a repair. */
export interface Salvaged {
  readonly items: number;
  /** True when readers' progress was lost: the host takes in all its messages again. */
  readonly isFromStart: boolean;
  /** Path of the damaged file. */
  readonly aside: string;
}

/** Rows that cannot be read, one after another, before nothing more is expected. */
const mostLost = 10_000;

/**
 * Moves a damaged file aside and rebuilds it from its readable rows. Nobody may have it open. Messages return from the
 * host's store as far as kept; unreadable facts and notes are lost.
 */
export function repairFile(path: string): Salvaged {
  const aside = freeName(path);
  // The logs first: a file without them is still a file, and logs of another file would be played into the new one.
  for (const end of ["-wal", "-shm", ""])
    if (existsSync(path + end)) renameSync(path + end, end === "" ? aside : `${aside}${end}`);
  const { memories, progress } = readDamaged(aside);
  using file = MemoryFile.open(path);
  for (let at = 0; at < memories.length; at += 500) file.put(memories.slice(at, at + 500));
  for (const { id, supersededBy } of memories) if (supersededBy !== undefined) file.supersede(id, supersededBy);
  file.advance([], { progress });
  return { items: memories.length, isFromStart: Object.keys(progress).length === 0, aside };
}

function freeName(path: string): string {
  for (let count = 1; ; count += 1) {
    const name = `${path}.damaged-${count}`;
    if (!existsSync(name)) return name;
  }
}

type Readable = NewMemory & { readonly supersededBy?: string | undefined };

function readDamaged(path: string): { memories: Readable[]; progress: Record<string, number> } {
  try {
    using closing = new DisposableStack();
    const database = new SQLite(path, { fileMustExist: true });
    closing.defer(() => database.close());
    return { memories: [...readRows(database)], progress: readProgress(database) };
  } catch {
    return { memories: [], progress: {} };
  }
}

function* readRows(database: SQLite.Database): Generator<Readable> {
  const next = database.prepare(`select ${itemColumns} from items where seq > ? order by seq limit 1`);
  for (let seq = 0, lost = 0; lost < mostLost;) {
    try {
      const row = next.get(seq) as ItemRow | undefined;
      if (row === undefined) return;
      seq = row.seq;
      lost = 0;
      yield toMemory(row);
    } catch {
      // Its page cannot be read: the next number may lie on another one.
      seq += 1;
      lost += 1;
    }
  }
}

function readProgress(database: SQLite.Database): Record<string, number> {
  try {
    const names = "'messages', 'replies', 'extracted', 'noted', 'cleaned'";
    const rows = database.prepare(`select name, value from facts where name in (${names})`).all();
    return Object.fromEntries((rows as { name: string; value: number }[]).map(({ name, value }) => [name, value]));
  } catch {
    return {};
  }
}
