import * as z from "zod";

import type { Operations } from "../operations/operations.ts";

/** What can be asked on the control socket, and what is done then. */
export interface Route<Parameters> {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly operation: string;
  /** Of path, query and body together; strict. */
  readonly parameters: z.ZodType<Parameters>;
  readonly run: (operations: Operations, parameters: Parameters, signal: AbortSignal) => Promise<unknown>;
}

/** Keeps the types of one route together while routes of different types stand in one list. */
export function route<Parameters>(definition: Route<Parameters>): Route<never> {
  return definition as unknown as Route<never>;
}

/** A name, code or id. */
export const name = z.string().min(1).max(256);
