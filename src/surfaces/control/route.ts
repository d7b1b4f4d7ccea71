import * as z from "zod";

import type { Operations } from "../../operations/operations.ts";

/** What of a request's parameters goes on record. */
export type Recordable = Readonly<Record<string, string | number | boolean>>;

/** A request that the control socket answers. */
export interface Route<Parameters> {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly operation: string;
  /** Of path, query and body together; strict. */
  readonly parameters: z.ZodType<Parameters>;
  /** What goes on record of the parameters, which may hold secrets; left out: all of them but texts. */
  readonly record?: (parameters: Parameters) => Recordable;
  readonly run: (operations: Operations, parameters: Parameters, signal: AbortSignal) => Promise<unknown>;
}

/** Keeps the types of one route together while routes of different types stand in one list. */
export function route<Parameters>(definition: Route<Parameters>): Route<never> {
  return definition as unknown as Route<never>;
}

/** For what takes no parameters. */
export const nothing = z.strictObject({});

/** Names, codes and ids. */
export const name = z.string().min(1).max(256);
