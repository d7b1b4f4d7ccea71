import type { ExecutionPointChange } from "../../../domain/sandbox/mount.ts";
import type { ExecutionPointStore } from "../../contract/execution-point-store.ts";
import type { Database } from "../database.ts";

export class SqliteExecutionPoints implements ExecutionPointStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async add(turn: string, changes: readonly ExecutionPointChange[], at: number): Promise<void> {
    if (changes.length === 0) return;
    const rows = changes.map(({ target, path, kind, change }) => ({ turn, at, target, path, kind, change }));
    await this.#database.writeSoon((transaction) => transaction.insertInto("execution_points").values(rows).execute());
  }

  async ofTurn(turn: string): Promise<(ExecutionPointChange & { readonly at: number })[]> {
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
