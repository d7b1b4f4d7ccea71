import * as z from "zod";

import { origins } from "../../../domain/people/origin.ts";
import { AppError } from "../../../lib/app-error.ts";
import type { NewMemory } from "../../../processes/memory-schemas.ts";

/** Characters of a memory of the largest size, with everything in it escaped. */
export const longestLine = 8 * 1024 * 1024;

/** Programs also put a blank before the time, and no colon into the offset. */
const time = z.preprocess(
  (value) =>
    typeof value === "string"
      ? value.replace(/^(\d{4}-\d{2}-\d{2}) (?=\d)/, "$1T").replace(/^([^T]*T.*[+-]\d{2})(\d{2})$/, "$1:$2")
      : value,
  z.union([z.iso.datetime({ offset: true, local: true }), z.iso.date()], {
    error: "must be ISO 8601, such as 2026-01-31T12:00:00Z",
  }),
);

/** A memory as programs write it. Times without an offset are in UTC. */
export const memoryFields = {
  id: z.string(),
  sender: z.string().default(""),
  time,
  text: z.string(),
  category: z.string().default("conversation"),
  origin: z.enum(origins).default("member"),
  sources: z.array(z.string()).default([]),
  photo: z.string().optional(),
};

type Written = z.output<z.ZodObject<typeof memoryFields>>;

export function toNewMemory({ time: written, ...memory }: Written): NewMemory {
  return { ...memory, time: parseTime(written) };
}

/** Parses a time that the schema has accepted. */
export function parseTime(text: string): number {
  const hasZone = /(?:Z|[+-]\d{2}:?\d{2})$/i.test(text.slice(10));
  return Date.parse(hasZone || text.length === 10 ? text : `${text}Z`);
}

/** One line of JSON as its schema reads it. Throws AppError `bad_input`. */
export function parseMemoryLine<Output>(line: string, schema: z.ZodType<Output>): Output {
  if (line.length > longestLine)
    throw new AppError("too_large", `The line has more than ${longestLine} characters: ${line.slice(0, 80)}`);
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new AppError("bad_input", `Not valid JSON: ${line.slice(0, 80)}`);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? "" : `${issue.path.map(String).join(".")}: `;
  throw new AppError("bad_input", `${where}${issue?.message ?? "is not valid"}`);
}
