import type { Kysely, Transaction } from "kysely";

/** Part of a database used by a store with its tables. */
export interface TableDatabase<Tables> {
  /** For one statement. */
  read<T>(query: (kysely: Kysely<Tables>) => Promise<T>): Promise<T>;
  /** All of `change` is stored and on disk when this resolves, or nothing of it when it rejects. */
  write<T>(change: (transaction: Transaction<Tables>) => Promise<T>): Promise<T>;
  /** The same, but a loss of power may take it back: for what can be done or found out again. */
  writeSoon<T>(change: (transaction: Transaction<Tables>) => Promise<T>): Promise<T>;
}

/** Tables that belong together, with the store that reads and writes them. */
export interface TableDefinition<Store, Tables> {
  /**
   * SQL statements by the name of their migration, such as `0001-tally`. A migration that was released is never
   * changed: later changes are further ones. All migrations of one start are applied together or not at all.
   */
  readonly migrations: Readonly<Record<string, readonly string[]>>;
  open(database: TableDatabase<Tables>): Store;
}

/** Describes tables; `tables.ts` lists them. The type of `open`'s parameter says which columns they have. */
export function defineTable<Store, Tables>(definition: TableDefinition<Store, Tables>): TableDefinition<Store, Tables> {
  return definition;
}
