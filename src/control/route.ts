import * as z from "zod";

import type { Operations } from "../operations/operations.ts";

/** What can be asked of the host on the control socket. */
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

export const name = z.string().min(1).max(256);
export const nothing = z.strictObject({});
