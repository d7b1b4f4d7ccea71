import type { Generated } from "kysely";

import type { ExecutionPointChange } from "../../domain/sandbox/mount.ts";
import { defineTable, type TableDatabase } from "../define-table.ts";

interface Tables {
  readonly execution_points: {
    readonly seq: Generated<number>;
    readonly turn: string;
    readonly at: number;
    readonly target: string;
    readonly path: string;
    readonly kind: string;
    readonly change: "added" | "changed" | "removed";
  };
}

/** Execution points that a turn changed in a group's mounts: what the operator's own programs would run. */
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
  },
  open: (database: TableDatabase<Tables>) => new ExecutionPointStore(database),
});

class ExecutionPointStore {
  readonly #database: TableDatabase<Tables>;

  constructor(database: TableDatabase<Tables>) {
    this.#database = database;
  }

  async add(turn: string, changes: readonly ExecutionPointChange[], at: number): Promise<void> {
    if (changes.length === 0) return;
    const rows = changes.map(({ target, path, kind, change }) => ({ turn, at, target, path, kind, change }));
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
}
