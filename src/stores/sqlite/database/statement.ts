import { type Compilable, CompiledQuery, type Kysely } from "kysely";

import type { Tables } from "../schema/tables.ts";

type Value = string | number | null;
type Values<V> = { readonly [Name in keyof V]: Value };

/** Runs a statement with these values. Resolves to its rows. */
type Run<V, Row> = (kysely: Kysely<Tables>, values: V) => Promise<Row[]>;

/** Stands in for the value of this name while a statement is put together. */
class Blank {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/**
 * A statement on the path of every message, put together when it is first run: Kysely takes longer to do so than SQLite
 * takes to run most of them. `build` is given stand-ins, which it may hand on as values and not look at.
 */
export function statement<V extends Values<V>, Row>(
  build: (kysely: Kysely<Tables>, values: V) => Compilable<Row>,
): Run<V, Row> {
  let compiled: Pick<CompiledQuery, "sql" | "parameters"> | undefined;
  return async (kysely, values) => {
    compiled ??= build(kysely, blanks as V).compile();
    const parameters = compiled.parameters.map((value) =>
      value instanceof Blank ? values[value.name as keyof V] : value,
    );
    const { rows } = await kysely.executeQuery<Row>(CompiledQuery.raw(compiled.sql, parameters));
    return rows;
  };
}

/** The row that a statement gives back which always gives one. */
export function written<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new TypeError("The statement gave no row back.");
  return row;
}

/** Has a stand-in under every name. */
const blanks: unknown = new Proxy({}, { get: (_, name) => new Blank(String(name)) });
