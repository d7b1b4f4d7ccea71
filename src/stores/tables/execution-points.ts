import type { Generated } from "kysely";

import type { ExecutionPointChange, ShownPointChange } from "../../domain/sandbox/mount.ts";
import { defineTable, type TableDatabase } from "../define-table.ts";

interface Tables {
  readonly execution_points: {
    readonly seq: Generated<number>;
    readonly group_name: string;
    readonly turn: string | null;
    readonly at: number;
    readonly target: string;
    readonly path: string;
    readonly kind: string;
    readonly change: "added" | "changed" | "removed";
    readonly bytes: number | null;
    readonly sha256: string | null;
    readonly diff: string | null;
  };
}

/** A change as it is on record. `turn`: the last one that used the container before; undefined: none did. */
export interface RecordedPointChange extends ShownPointChange {
  readonly at: number;
  readonly turn: string | undefined;
}

/** Execution points that agents changed in mounts: what the operator's own programs would run. */
export const executionPoints = defineTable({
  migrations: {
    "0001-execution-points": [
      `create table execution_points (
         seq integer primary key autoincrement,
         turn text not null references turns (id),
         at integer not null,
         target text not null,
         path text not null,
         kind text not null,
         change text not null check (change in ('added', 'changed', 'removed'))
       ) strict`,
      `create index execution_points_by_turn on execution_points (turn, seq)`,
    ],
    "0002-shown-execution-points": [
      `create table shown_execution_points (
         seq integer primary key autoincrement,
         group_name text not null,
         turn text references turns (id),
         at integer not null,
         target text not null,
         path text not null,
         kind text not null,
         change text not null check (change in ('added', 'changed', 'removed')),
         bytes integer,
         sha256 text,
         diff text
       ) strict`,
      `insert into shown_execution_points (seq, group_name, turn, at, target, path, kind, change)
         select points.seq, turns.group_name, points.turn, points.at, points.target, points.path, points.kind, points.change
         from execution_points as points join turns on turns.id = points.turn`,
      `drop table execution_points`,
      `alter table shown_execution_points rename to execution_points`,
      `create index execution_points_by_turn on execution_points (turn, seq)`,
      `create index execution_points_by_group on execution_points (group_name, seq)`,
    ],
  },
  open: (database: TableDatabase<Tables>) => new ExecutionPointStore(database),
});

class ExecutionPointStore {
  readonly #database: TableDatabase<Tables>;

  constructor(database: TableDatabase<Tables>) {
    this.#database = database;
  }

  async add(
    { group, turn }: { readonly group: string; readonly turn: string | undefined },
    changes: readonly ShownPointChange[],
    at: number,
  ): Promise<void> {
    if (changes.length === 0) return;
    const rows = changes.map(({ target, path, kind, change, bytes = null, sha256 = null, diff = null }) => {
      return { group_name: group, turn: turn ?? null, at, target, path, kind, change, bytes, sha256, diff };
    });
    await this.#database.writeSoon((transaction) => transaction.insertInto("execution_points").values(rows).execute());
  }

  /** In the order in which they were found. */
  ofTurn(turn: string): Promise<(ExecutionPointChange & { readonly at: number })[]> {
    return this.#database.read((kysely) =>
      kysely
        .selectFrom("execution_points")
        .select(["target", "path", "kind", "change", "at"])
        .where("turn", "=", turn)
        .orderBy("seq")
        .execute(),
    );
  }

  /** The newest first. `target`: of this mount only. */
  async ofGroup(
    group: string,
    { target, limit }: { readonly target?: string | undefined; readonly limit: number },
  ): Promise<readonly RecordedPointChange[]> {
    const rows = await this.#database.read((kysely) =>
      kysely
        .selectFrom("execution_points")
        .select(["target", "path", "kind", "change", "at", "turn", "bytes", "sha256", "diff"])
        .where("group_name", "=", group)
        .$if(target !== undefined, (query) => query.where("target", "=", target ?? ""))
        .orderBy("seq", "desc")
        .limit(limit)
        .execute(),
    );
    return rows.map(({ turn, bytes, sha256, diff, ...row }) => ({
      ...row,
      turn: turn ?? undefined,
      bytes: bytes ?? undefined,
      sha256: sha256 ?? undefined,
      diff: diff ?? undefined,
    }));
  }
}
