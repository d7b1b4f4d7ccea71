import type { TableDatabase } from "./define-table.ts";
import { executionPoints } from "./tables/execution-points.ts";

/** Tables that no other store joins with, by their member of `Store`. */
const tables = {
  executionPoints,
};

/** The members of `Store` that come from the catalog. */
export type TableStores = { readonly [Name in keyof typeof tables]: ReturnType<(typeof tables)[Name]["open"]> };

/** The migrations of the catalog's tables. */
export const tableMigrations: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.values(tables).flatMap(({ migrations }) => Object.entries(migrations)),
);

/** Opens the stores of the catalog on a database that has their tables. */
export function openTables<Tables>(database: TableDatabase<Tables>): TableStores {
  // Each definition knows its own tables, which its migrations have made.
  const stores = Object.entries(tables).map(([name, table]) => [name, table.open(database as never)]);
  return Object.fromEntries(stores) as TableStores;
}
