import { sql, type Transaction } from "kysely";

import type { MemberId } from "../../../domain/people/person.ts";
import type { Database } from "../database/database.ts";
import { parseTexts } from "../schema/json-columns.ts";
import type { Tables } from "../schema/tables.ts";

/** Rows per transaction, so that nobody waits long for the store. */
export const rowsAtOnce = 200;

type Cell = string | number | null;

/** A row as it is looked at; `key` names it. */
export type ErasureRow = Readonly<Record<string, Cell>> & { readonly key: Cell };

/** Changed columns of a row; undefined: unchanged. */
export type RowChange = Readonly<Record<string, Cell>> | "delete" | undefined;

export interface ErasableRows {
  readonly table: string;
  /** Column that orders and identifies the rows. */
  readonly key: string;
  readonly columns: readonly string[];
  readonly group: string;
  readonly change: (row: ErasureRow) => RowChange;
}

/** Looks at each row of a group, a piece in a transaction, and changes those that are to be. Gives how many were. */
export async function changeRows(
  database: Database,
  { table, key, columns, group, change }: ErasableRows,
): Promise<number> {
  let changed = 0;
  for (let after: Cell = null; ;) {
    const step = await database.write(async (transaction) => {
      const names = sql.join(columns.map((column) => sql.ref(column)));
      const from = after;
      const { rows } = await sql<ErasureRow>`select ${sql.ref(key)} as key, ${names} from ${sql.table(table)}
        where group_name = ${group} and (${from} is null or ${sql.ref(key)} > ${from})
        order by ${sql.ref(key)} limit ${rowsAtOnce}`.execute(transaction);
      let count = 0;
      for (const row of rows) {
        const wanted = change(row);
        if (wanted === undefined) continue;
        count += 1;
        await apply(transaction, { table, key, value: row.key, wanted });
      }
      return { count, last: rows.length < rowsAtOnce ? undefined : rows.at(-1)?.key };
    });
    changed += step.count;
    if (step.last === undefined) return changed;
    after = step.last;
  }
}

async function apply(
  transaction: Transaction<Tables>,
  { table, key, value, wanted }: { table: string; key: string; value: Cell; wanted: NonNullable<RowChange> },
): Promise<void> {
  const place = sql`where ${sql.ref(key)} = ${value}`;
  if (wanted === "delete") {
    await sql`delete from ${sql.table(table)} ${place}`.execute(transaction);
    return;
  }
  const changes = Object.entries(wanted).map(([column, cell]) => sql`${sql.ref(column)} = ${cell}`);
  await sql`update ${sql.table(table)} set ${sql.join(changes)} ${place}`.execute(transaction);
}

/** True when the row's columns name one of them. */
export function isBy(people: readonly MemberId[], row: ErasureRow): boolean {
  return people.some(({ channel, id }) => row["channel"] === channel && row["sender_id"] === id);
}

/** `channel:id` of each. */
export function keysOf(people: readonly MemberId[]): ReadonlySet<Cell> {
  return new Set(people.map(({ channel, id }) => `${channel}:${id}`));
}

/** True for a row with one of these keys (as JSON) among the people of its lineage. */
export function isOf(keys: string) {
  return sql<boolean>`exists (select 1 from json_each(people) as one
    where one.value in (select value from json_each(${keys})))`;
}

/** The same for a row that was read. */
export function hasOneOf(keys: ReadonlySet<unknown>, row: ErasureRow): boolean {
  return typeof row["people"] === "string" && parseTexts(row["people"]).some((key) => keys.has(key));
}

/** People as one value that a statement can be given, whatever their number. */
export function listed(people: readonly MemberId[]) {
  const pairs = JSON.stringify(people.map(({ channel, id }) => [channel, id]));
  return sql`(select value ->> 0, value ->> 1 from json_each(${pairs}))`;
}

/** Replaces matching texts in a JSON value. Undefined when none match. */
export function rewriteJson(json: string, isGone: (text: string) => boolean, instead: string): string | undefined {
  const rewritten = rewrite(JSON.parse(json), isGone, instead);
  const after = JSON.stringify(rewritten);
  return after === JSON.stringify(JSON.parse(json)) ? undefined : after;
}

function rewrite(value: unknown, isGone: (text: string) => boolean, instead: string): unknown {
  if (typeof value === "string") return isGone(value) ? instead : value;
  if (Array.isArray(value)) return value.map((item) => rewrite(item, isGone, instead));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, rewrite(item, isGone, instead)]));
}
