import { chmodSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

import SQLite from "better-sqlite3";

import { AppError, toError } from "../../../lib/app-error.ts";
import { migrate } from "./migrations.ts";
import { type ItemRow, itemColumns, toBlob, toColumns, toMemory } from "./rows.ts";
import type { Advance, ListQuery, Memory, NewMemory, ReaderProgress } from "../../../processes/memory-schemas.ts";

/** Time that a write waits for another process on the same group. */
const busyTimeoutMs = 5_000;

/** A memory that has no vector of the model yet. */
export interface Unembedded extends NewMemory {
  readonly seq: number;
}

/** A row as the index takes it in. */
export interface StoredIndexRow {
  readonly seq: number;
  readonly id: string;
  readonly time: number;
  readonly sender: string;
  readonly terms: string;
  readonly han: number;
  readonly superseded_by: string | null;
  readonly model: string | null;
  readonly vector: Buffer | null;
}

/** Access to a file's rows for a change, within its transaction. */
export interface OpenRows {
  readonly prepare: (text: string) => SQLite.Statement;
  readonly remove: (id: string) => boolean;
  /** To be called where something was removed or replaced. */
  readonly countErasure: () => void;
}

const indexColumns = "seq, id, time, sender, terms, han, superseded_by, model, vector";

/**
 * The file of a group's memory. Several processes may open it. Each change is a transaction synced to disk, and removed
 * data is overwritten: no page, index or log keeps it.
 */
export class MemoryFile implements Disposable {
  readonly #connection: SQLite.Database;
  readonly #path: string;
  readonly #statements = new Map<string, SQLite.Statement>();

  private constructor(connection: SQLite.Database, path: string) {
    this.#connection = connection;
    this.#path = path;
  }

  /** Opens the file, creating it with its folder, readable by the owner only. Throws AppError `store_failed`. */
  static open(path: string): MemoryFile {
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      // Only SQLite opens the file: a process that closes one loses all its locks on it, also those of other
      // connections.
      const connection = new SQLite(path, { timeout: busyTimeoutMs });
      try {
        // SQLite gives its log the mode of the main file, so the mode is right before it opens it.
        chmodSync(path, 0o600);
        connection.pragma("journal_mode = WAL");
        connection.pragma("synchronous = FULL");
        connection.pragma("secure_delete = ON");
        migrate(connection, path);
        const file = new MemoryFile(connection, path);
        file.#finishErasing();
        return file;
      } catch (error) {
        connection.close();
        throw error;
      }
    } catch (error) {
      throw memoryFailure(path, error);
    }
  }

  /** Changes when another process has changed something. */
  version(): number {
    return this.#connection.pragma("data_version", { simple: true }) as number;
  }

  /** Goes up with each removal and replacement: what was read before may be gone. */
  erasures(): number {
    return this.#prepare("select value from facts where name = 'erasures'").pluck().get() as number;
  }

  /** Progress of each reader. */
  progress(): ReaderProgress {
    const rows = this.#prepare("select name, value from facts").all() as { name: string; value: number }[];
    const valueOf = (name: string): number => rows.find((row) => row.name === name)?.value ?? 0;
    const [messages, replies, extracted] = [valueOf("messages"), valueOf("replies"), valueOf("extracted")];
    return { messages, replies, extracted, noted: valueOf("noted"), cleaned: valueOf("cleaned") };
  }

  /**
   * Adds memories, or replaces those whose ids are known, lets some take the place of others, and notes how far that
   * brings a reader: all or nothing.
   */
  advance(memories: readonly NewMemory[], { progress, supersedes = [] }: Advance): void {
    this.#write(() => {
      const replaced = memories.filter((memory) => this.#putOne(memory)).length;
      const supersede = this.#prepare("update items set superseded_by = ? where id = ? and superseded_by is null");
      for (const { id, by } of supersedes) supersede.run(by, id);
      if (supersedes.length > 0 || replaced > 0) this.#countErasure();
      const note = this.#prepare("update facts set value = max(value, ?) where name = ?");
      for (const [name, value] of Object.entries(progress)) note.run(value, name);
    });
  }

  /** Reads another part of this folder. */
  read<T>(work: (prepare: OpenRows["prepare"]) => T): T {
    return work((text) => this.#prepare(text));
  }

  /** Changes another part of this folder in one transaction, then overwrites the removed bytes. */
  change<T>(work: (rows: OpenRows) => T): T {
    const result = this.#write(() =>
      work({
        prepare: (text) => this.#prepare(text),
        remove: (id) => this.#removeOne(id),
        countErasure: () => this.#countErasure(),
      }),
    );
    this.#finishErasing();
    return result;
  }

  /** The same without a reader. */
  put(memories: readonly NewMemory[]): void {
    this.advance(memories, { progress: {} });
  }

  /** Removes memories and returns their number; their words leave all files once nobody reads them. */
  remove(ids: readonly string[]): number {
    const removed = this.#write(() => {
      const count = ids.filter((id) => this.#removeOne(id)).length;
      if (count > 0) this.#countErasure();
      return count;
    });
    if (removed > 0) this.#finishErasing();
    return removed;
  }

  /** From now on it has these people and sources; nothing else of it changes. */
  detach(
    id: string,
    { people, sources }: { readonly people: readonly string[]; readonly sources: readonly string[] },
  ): void {
    this.#write(() => {
      const statement = this.#prepare("update items set people = ?, sources = ? where id = ?");
      statement.run(JSON.stringify(people), JSON.stringify(sources), id);
      this.#countErasure();
    });
  }

  /** Everything. Gives how much that was. */
  clear(): number {
    const count = this.#write(() => {
      const { changes } = this.#prepare("delete from items").run();
      this.#connection.exec("insert into keywords (keywords) values ('delete-all')");
      this.#countErasure();
      return changes;
    });
    this.#finishErasing();
    return count;
  }

  /** `id` is kept and no longer found: `by` took its place. False where there is no `id`. */
  supersede(id: string, by: string): boolean {
    return this.#write(() => {
      const { changes } = this.#prepare("update items set superseded_by = ? where id = ?").run(by, id);
      this.#countErasure();
      return changes > 0;
    });
  }

  get(id: string): Memory | undefined {
    const row = this.#prepare(`select ${itemColumns} from items where id = ?`).get(id) as ItemRow | undefined;
    return row && toMemory(row);
  }

  bySeq(seq: number): Memory | undefined {
    const row = this.#prepare(`select ${itemColumns} from items where seq = ?`).get(seq) as ItemRow | undefined;
    return row && toMemory(row);
  }

  /** Memories said just before and after, in order. */
  besides(id: string): Memory[] {
    const rows = this.#prepare(besides).all({ id });
    return (rows as ItemRow[]).map(toMemory);
  }

  /** Newest first. */
  list({ category, except, isCurrent = false, limit }: ListQuery): Memory[] {
    const only = category === undefined ? "true" : "category = @category";
    const but = except === undefined ? "true" : "category <> @except";
    const where = `where ${only} and ${but}${isCurrent ? " and superseded_by is null" : ""}`;
    const order = "order by time desc, seq desc limit @limit";
    const rows = this.#prepare(`select ${itemColumns} from items ${where} ${order}`).all({ category, except, limit });
    return (rows as ItemRow[]).map(toMemory);
  }

  /** All of them in the order in which they were added, a piece at a time. */
  *all(): Generator<Memory> {
    for (let after = 0; ;) {
      const rows = this.#prepare(`select ${itemColumns} from items where seq > ? order by seq limit 500`).all(after);
      for (const row of rows as ItemRow[]) yield toMemory(row);
      const last = (rows as ItemRow[]).at(-1);
      if (last === undefined) return;
      after = last.seq;
    }
  }

  counts(model: string | undefined): {
    readonly items: number;
    readonly superseded: number;
    readonly embedded: number;
  } {
    return this.#prepare(
      `select count(*) as items, count(superseded_by) as superseded,
         coalesce(sum(model is @model and vector is not null), 0) as embedded from items`,
    ).get({ model: model ?? null }) as ReturnType<MemoryFile["counts"]>;
  }

  categories(): { readonly category: string; readonly items: number }[] {
    const rows = this.#prepare(
      "select category, count(*) as items from items group by category order by category",
    ).all();
    return rows as { category: string; items: number }[];
  }

  /** Number of the row `count` rows before this one or the end; undefined when there are fewer rows. */
  walkBack(seq: number | undefined, count: number): number | undefined {
    const text = "select seq from items where seq < ? order by seq desc limit 1 offset ?";
    return this.#prepare(text)
      .pluck()
      .get(seq ?? Number.MAX_SAFE_INTEGER, count - 1) as number | undefined;
  }

  indexRows(from: number, limit: number): StoredIndexRow[] {
    const rows = this.#prepare(`select ${indexColumns} from items where seq >= ? order by seq limit ?`).all(
      from,
      limit,
    );
    return rows as StoredIndexRow[];
  }

  /** The newest rows before `seq` with this term, without vectors; reads only the rows it returns. */
  matchBefore(seq: number, term: string, limit: number): StoredIndexRow[] {
    const columns = indexColumns.replace(", vector", ", null as vector");
    return this.#prepare(
      `select ${columns} from items where seq in
         (select rowid from keywords where keywords match ? and rowid < ? order by rowid desc limit ?)`,
    ).all(`"${term}"`, seq, limit) as StoredIndexRow[];
  }

  /** Rows after `seq` that have no vector of this model, oldest first. */
  unembedded(model: string, seq: number, limit: number): Unembedded[] {
    const rows = this.#prepare(
      `select ${itemColumns} from items where seq > ? and model is not ? order by seq limit ?`,
    ).all(seq, model, limit);
    return (rows as ItemRow[]).map((row) => ({ ...toMemory(row), seq: row.seq }));
  }

  /** Stores vectors, skipping rows replaced or removed meanwhile; undefined marks one that cannot be made. */
  setVectors(model: string, vectors: readonly (readonly [Unembedded, Float32Array | undefined])[]): void {
    this.#write(() => {
      const statement = this.#prepare(
        "update items set model = ?, vector = ? where seq = ? and text = ? and sender = ? and photo is ?",
      );
      for (const [{ seq, text, sender, photo }, vector] of vectors)
        statement.run(model, vector === undefined ? null : toBlob(vector), seq, text, sender, photo ?? null);
    });
  }

  /** All vectors are made anew, and the index of words is written anew. */
  dropIndexes(): void {
    this.#write(() => {
      this.#prepare("update items set model = null, vector = null").run();
      this.#connection.exec("insert into keywords (keywords) values ('rebuild')");
      this.#countErasure();
    });
  }

  [Symbol.dispose](): void {
    if (!this.#connection.open) return;
    try {
      this.#finishErasing();
    } finally {
      this.#connection.close();
    }
  }

  #putOne(memory: NewMemory): boolean {
    const columns = toColumns(memory);
    const known = this.#prepare("select seq, terms from items where id = ?").get(memory.id) as TermsRow | undefined;
    if (known === undefined) {
      const { lastInsertRowid } = this.#prepare(
        `insert into items (id, category, text, time, sender, origin, sources, photo, people, origins, terms, han)
         values (@id, @category, @text, @time, @sender, @origin, @sources, @photo, @people, @origins, @terms, @han)`,
      ).run(columns);
      this.#prepare("insert into keywords (rowid, terms) values (?, ?)").run(lastInsertRowid, columns["terms"]);
      return false;
    }
    this.#forgetTerms(known);
    this.#prepare(
      `update items set category = @category, text = @text, time = @time, sender = @sender, origin = @origin, sources = @sources,
         photo = @photo, people = @people, origins = @origins, terms = @terms, han = @han, superseded_by = null, model = null, vector = null where id = @id`,
    ).run(columns);
    this.#prepare("insert into keywords (rowid, terms) values (?, ?)").run(known.seq, columns["terms"]);
    return true;
  }

  #removeOne(id: string): boolean {
    const known = this.#prepare("select seq, terms from items where id = ?").get(id) as TermsRow | undefined;
    if (known === undefined) return false;
    this.#forgetTerms(known);
    this.#prepare("delete from items where seq = ?").run(known.seq);
    // What it had taken the place of stays out of sight: it was wrong before.
    return true;
  }

  #forgetTerms({ seq, terms }: TermsRow): void {
    this.#prepare("insert into keywords (keywords, rowid, terms) values ('delete', ?, ?)").run(seq, terms);
  }

  /** Also that the log of the file still holds what was overwritten, until `#finishErasing` has emptied it. */
  #countErasure(): void {
    this.#prepare("update facts set value = value + 1 where name = 'erasures'").run();
    this.#prepare("update facts set value = 1 where name = 'unerased'").run();
  }

  /** Empties the file's log; while another process reads it, the next one to open the file does so. */
  #finishErasing(): void {
    if (this.#prepare("select value from facts where name = 'unerased'").pluck().get() === 0) return;
    const emptied = (): boolean =>
      (this.#connection.pragma("wal_checkpoint(TRUNCATE)") as { busy: number }[])[0]?.busy === 0;
    if (!emptied()) return;
    this.#write(() => this.#prepare("update facts set value = 0 where name = 'unerased'").run());
  }

  #write<T>(change: () => T): T {
    try {
      return this.#connection.transaction(change).immediate();
    } catch (error) {
      throw memoryFailure(this.#path, error);
    }
  }

  #prepare(text: string): SQLite.Statement {
    let statement = this.#statements.get(text);
    if (statement === undefined) {
      statement = this.#connection.prepare(text);
      this.#statements.set(text, statement);
    }
    // `pluck` sticks to a statement.
    return statement.reader ? statement.pluck(false) : statement;
  }
}

function beyond(than: "<" | ">"): string {
  return `select ${itemColumns} from items where superseded_by is null and (time, seq) ${than} (select time, seq from items where id = @id)`;
}

/** In one statement: asking costs more than finding. */
const besides = `select * from (${beyond("<")} order by time desc, seq desc limit 1) union all select * from (${beyond(">")} order by time, seq limit 1)`;

interface TermsRow {
  readonly seq: number;
  readonly terms: string;
}

function memoryFailure(path: string, error: unknown): unknown {
  if (error instanceof AppError) return error;
  return new AppError("store_failed", `The memory ${path} failed: ${toError(error).message}.`, {
    cause: error,
    fix: "check the disk, and the owner and mode of the file; a file that is damaged can be restored from a backup",
    passing: error instanceof SQLite.SqliteError && /^SQLITE_(?:BUSY|FULL|LOCKED)/.test(error.code),
  });
}
