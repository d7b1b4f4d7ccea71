import type { Generated } from "kysely";

/** The tables that statements create, read from their SQL by the compiler: one column per line, a check lists words. */
export type TablesOf<Statement extends string> = {
  readonly [Create in Statement as NameIn<Create>]: ColumnsIn<Create>;
};

type NameIn<Create> = Create extends `create table ${infer Name} (${string}` ? Name : never;

type ColumnsIn<Create> = Create extends `create table ${string} (\n${infer Lines}\n   )${string}`
  ? Columns<Lines>
  : never;

type Columns<Lines, Before = unknown> = Lines extends `${infer Line},\n${infer Rest}`
  ? Columns<Rest, Before & Column<Line>>
  : Flat<Before & Column<Lines>>;

type Flat<Fields> = { readonly [Name in keyof Fields]: Fields[Name] };

/** A line such as `state text not null`; other lines are constraints of the table. */
type Column<Line> = Line extends `     ${infer Name} ${infer Definition}`
  ? [ValueOf<Definition>] extends [never]
    ? unknown
    : { readonly [Key in Name]: Stored<Definition, ValueOf<Definition>> }
  : unknown;

type ValueOf<Definition> = Definition extends `text${infer Constraints}`
  ? TextOf<Constraints>
  : Definition extends `${"integer" | "real"}${string}`
    ? number
    : Definition extends `blob${string}`
      ? Uint8Array
      : never;

type TextOf<Constraints> = Constraints extends `${string} in ('${infer Listed}'))` ? Words<Listed> : string;

type Words<Listed> = Listed extends `${infer Word}', '${infer Rest}` ? Word | Words<Rest> : Listed;

type Stored<Definition, Value> = Definition extends `${string}${" default " | " autoincrement"}${string}`
  ? Generated<Value>
  : Definition extends `${string}${"not null" | "primary key"}${string}`
    ? Value
    : Value | null;
