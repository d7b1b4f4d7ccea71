import type SQLite from "better-sqlite3";

import { AppError } from "../../../lib/app-error.ts";
import type { HostEvent, NewEvent } from "../../../domain/events/event.ts";
import type { EventFilter, EventPage, EventStore, RewriteEvent, RewrittenEvents } from "../../contract/event-store.ts";
import { storeFailure } from "../database/database.ts";
import { rewriteInThread } from "../rewrite/rewrite-in-thread.ts";

/** Events that one call looks at, so that a rare type does not hold up the host while it is looked for. */
const window = 5_000;

interface Row {
  readonly seq: number;
  readonly at: number;
  readonly type: string;
  readonly group_name: string | null;
  readonly session: string | null;
  readonly turn: string | null;
  readonly actor: string;
  readonly data: string;
}

const schema = `create table if not exists events (
  seq integer primary key,
  at integer not null,
  type text not null,
  group_name text,
  session text,
  turn text,
  actor text not null,
  data text not null
) strict`;
const columns = "seq, at, type, group_name, session, turn, actor, data";
const matching = `(:types is null or type in (select value from json_each(:types))) and (:group is null or group_name = :group)`;
const schemaVersion = 1;

/**
 * Events in their own file. An event is one small insert, synced only now and then: it outlives the process, and
 * the audit log, which is synced, is the proof that outlives a loss of power. The newest row is never removed, so that
 * the number after it is known without a counter.
 */
export class SqliteEvents implements EventStore, AsyncDisposable {
  readonly #connection: SQLite.Database;
  readonly #path: string;
  readonly #statements = new Map<string, SQLite.Statement>();
  /** The file is being written anew: a statement would hold the process up until that is done. */
  #compacting: Promise<void> | undefined;

  constructor(connection: SQLite.Database, path: string) {
    this.#connection = connection;
    this.#path = path;
  }

  /** Makes the table if it is missing. Throws AppError `store_failed` for a damaged file, or one of a newer version. */
  prepare(): void {
    try {
      const version = Number(this.#connection.pragma("user_version", { simple: true }));
      if (version > schemaVersion) throw newer(this.#path);
      this.#connection.pragma("journal_mode = WAL");
      this.#connection.pragma("synchronous = NORMAL");
      this.#connection.exec(schema);
      if (version < schemaVersion) this.#connection.pragma(`user_version = ${schemaVersion}`);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  async append({ type, group, session, turn, actor, data }: NewEvent, at: number): Promise<number> {
    return this.#run(() => {
      const insert = this.#prepared(
        "insert into events (at, type, group_name, session, turn, actor, data) values (?, ?, ?, ?, ?, ?, ?)",
      );
      const names = [group ?? null, session ?? null, turn ?? null];
      return Number(insert.run(at, type, ...names, actor, JSON.stringify(data)).lastInsertRowid);
    });
  }

  async after(after: number, filter: EventFilter, limit: number): Promise<EventPage> {
    return this.#run(() => {
      const last = this.#edge("max");
      const upTo = Math.min(last, Math.max(after, this.#edge("min") - 1) + window);
      const sql = `select ${columns} from events where seq > :from and seq <= :to and ${matching} order by seq limit :limit`;
      const events = this.#select(sql, { from: after, to: upTo, limit }, filter);
      const reached = events.length === limit ? (events.at(-1)?.seq ?? upTo) : upTo;
      return { events, next: reached < last ? reached : undefined };
    });
  }

  async before(before: number, filter: EventFilter, limit: number): Promise<EventPage> {
    return this.#run(() => {
      const first = this.#edge("min");
      const downTo = Math.max(first, Math.min(before, this.#edge("max") + 1) - window);
      const sql = `select ${columns} from events where seq < :from and seq >= :to and ${matching} order by seq desc limit :limit`;
      const events = this.#select(sql, { from: before, to: downTo, limit }, filter).toReversed();
      const reached = events.length === limit ? (events[0]?.seq ?? downTo) : downTo;
      return { events, next: reached > first ? reached : undefined };
    });
  }

  async prune(before: number, limit: number): Promise<number> {
    return this.#run(() => {
      const oldest = `select seq, at from events where seq < (select max(seq) from events) order by seq limit :limit`;
      // Times go back where a clock was set: the first event that is young enough ends it.
      const young = `select min(seq) from (${oldest}) where at >= :before`;
      const sql = `delete from events where seq in (select seq from (${oldest}) where seq < coalesce((${young}), 9e15))`;
      return this.#connection.prepare(sql).run({ before, limit }).changes;
    });
  }

  async rewrite(after: number, change: RewriteEvent): Promise<RewrittenEvents> {
    return this.#run(() => {
      const rows = this.#select(
        `select ${columns} from events where seq > :from and seq <= :to and ${matching} order by seq limit :limit`,
        { from: after, to: Number.MAX_SAFE_INTEGER, limit: window },
        {},
      );
      const update = this.#connection.prepare("update events set data = ? where seq = ?");
      const changed = rows.filter((event) => {
        const data = change(event);
        return data !== undefined && update.run(JSON.stringify(data), event.seq).changes > 0;
      }).length;
      return { changed, next: rows.length < window ? undefined : rows.at(-1)?.seq };
    });
  }

  /** See `rewriteFile`; only calls about events wait meanwhile. */
  async compact(): Promise<void> {
    await this.#compacting;
    const compacting = rewriteInThread(this.#path);
    this.#compacting = compacting
      .catch(() => undefined)
      .finally(() => {
        this.#compacting = undefined;
      });
    await this.#run(() => compacting);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#compacting;
    this.#connection.close();
  }

  #edge(which: "min" | "max"): number {
    return Number(this.#prepared(`select coalesce(${which}(seq), 0) from events`).pluck().get());
  }

  #select(
    sql: string,
    range: { from: number; to: number; limit: number },
    { types, group }: EventFilter,
  ): readonly HostEvent[] {
    const values = { ...range, types: types === undefined ? null : JSON.stringify(types), group: group ?? null };
    return (this.#prepared(sql).all(values) as Row[]).map(toEvent);
  }

  /** For the few statements that are asked again and again: to prepare one takes longer than to find a few events. */
  #prepared(sql: string): SQLite.Statement {
    const prepared = this.#statements.get(sql) ?? this.#connection.prepare(sql);
    this.#statements.set(sql, prepared);
    return prepared;
  }

  async #run<T>(action: () => T | Promise<T>): Promise<T> {
    if (this.#compacting) await this.#compacting;
    try {
      return await action();
    } catch (error) {
      throw this.#failure(error);
    }
  }

  #failure(error: unknown): unknown {
    return this.#connection.open ? storeFailure(this.#path, error) : closed(this.#path);
  }
}

function toEvent({ seq, at, type, group_name: group, session, turn, actor, data }: Row): HostEvent {
  const names = {
    ...(group !== null && { group }),
    ...(session !== null && { session }),
    ...(turn !== null && { turn }),
  };
  // Written by `append`, and only by it.
  return { seq, at, type, ...names, actor, data: JSON.parse(data) as unknown } as HostEvent;
}

function newer(path: string): AppError {
  return new AppError("store_failed", `The events in ${path} were written by a newer version of crabpot.`, {
    fix: "update crabpot, or use another home",
  });
}

function closed(path: string): AppError {
  return new AppError("store_failed", `The store ${path} is closed; nothing was read or written.`);
}
