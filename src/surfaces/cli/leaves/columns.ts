import * as z from "zod";

import { formatTime } from "../../../lib/time/formats.ts";
import { shorten } from "../../../lib/text/visible.ts";
import type { Column, FieldColumn, TableColumn } from "../../../operations/definition/cli-leaf.ts";
import { coreOf } from "./parameters.ts";

type Row = Readonly<Record<string, unknown>>;

/** Characters of a long text in a table. */
const shortChars = 60;

/** The columns of a list: those of the command, or one for each field that is short. */
export function columnsOfList(
  output: z.ZodType,
  table: readonly TableColumn<never>[] | undefined,
): readonly Column<Row>[] {
  const fields = fieldsOf(output instanceof z.ZodArray ? (output.element as z.ZodType) : output);
  const chosen = table ?? Object.keys(fields).filter((key) => isShort(fields[key]));
  return chosen.map((column: TableColumn<never> | string) => {
    if (typeof column === "object" && "of" in column) return column as Column<Row>;
    const { field, title, short, ...how } = (
      typeof column === "string" ? { field: column } : column
    ) as FieldColumn<Row>;
    const format = formatOf(fields[field]);
    const of = (row: Row): string | undefined => {
      const cell = cellOf(row[field], format);
      return short && cell !== undefined ? shorten(cell, shortChars) : cell;
    };
    return { title: title ?? titleOf(field, format), of, ...how };
  });
}

/** The fields of an answer, one a line. */
export function factsOf(output: z.ZodType, answer: object): readonly (readonly [string, string | undefined])[] {
  return columnsOfList(output, Object.keys(fieldsOf(output)) as never[]).map(({ title, of }) => [
    title,
    of(answer as Row) as string | undefined,
  ]);
}

function fieldsOf(item: z.ZodType): Readonly<Record<string, z.ZodType>> {
  if (item instanceof z.ZodObject) return item.shape;
  if (!(item instanceof z.ZodUnion)) return {};
  return Object.assign({}, ...(item.options as z.ZodType[]).toReversed().map(fieldsOf)) as Record<string, z.ZodType>;
}

function isShort(schema: z.ZodType | undefined): boolean {
  const core = schema && coreOf(schema).core;
  return [z.ZodString, z.ZodNumber, z.ZodBoolean, z.ZodEnum].some((kind) => core instanceof kind);
}

function formatOf(schema: z.ZodType | undefined): unknown {
  return schema && coreOf(schema).core.meta()?.["format"];
}

/** `exitCode` → `exit code`, `endedAt` → `ended (UTC)`. */
function titleOf(field: string, format: unknown): string {
  const words = field.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return format === undefined ? words : `${words.replace(/ at$/, "")} (UTC)`;
}

function cellOf(value: unknown, format: unknown): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (format === "unix-ms") return formatTime(Number(value));
  if (typeof value === "string") return format === "date-time" ? formatTime(Date.parse(value)) : value;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value.join(", ");
  return JSON.stringify(value);
}
