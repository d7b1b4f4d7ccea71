import type * as z from "zod";

import type { Operation } from "../../operations/definition/define-operation.ts";
import { invoke } from "../../operations/invoke.ts";

/**
 * Carries out an operation in this process, as the operator. The parts that it works with put on record what has to be.
 */
export async function invokeHere<Needs, Input extends z.ZodType, Output extends z.ZodType>(
  operation: Operation<Needs, Input, Output>,
  needs: Needs,
  input: z.input<Input>,
): Promise<z.output<Output>> {
  const answer = await invoke(operation, needs, input, {
    actor: "operator",
    scopes: new Set(["read", "admin"] as const),
    publish: () => Promise.resolve(),
    signal: new AbortController().signal,
  });
  // As it would have come from a host.
  return JSON.parse(JSON.stringify(answer)) as z.output<Output>;
}
