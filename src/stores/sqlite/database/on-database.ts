import type { Database } from "./database.ts";

/** The methods of a store, each given the database first. */
type Methods<Store> = {
  readonly [Name in keyof Store]: Store[Name] extends (...given: infer Given) => infer Result
    ? (database: Database, ...given: Given) => Result
    : never;
};

type Method = (database: Database, ...given: unknown[]) => unknown;

/** Makes a function that opens a store on a database. The store's contract gives the methods their types. */
export function onDatabase<Store extends object>(methods: Methods<Store>): (database: Database) => Store {
  return (database) => {
    const bound = Object.entries<Method>(methods as Readonly<Record<string, never>>).map(
      ([name, method]) => [name, (...given: unknown[]) => method(database, ...given)] as const,
    );
    return Object.fromEntries(bound) as Store;
  };
}
