import * as z from "zod";

import type { Thoughts } from "../../domain/turns/model.ts";

const outputItem = z.discriminatedUnion("type", [
  /** The original item, with encrypted reasoning. */
  z.object({ type: z.literal("reasoning"), item: z.looseObject({ type: z.literal("reasoning") }) }),
  /** A number of characters of the answer's text. `phase`: `commentary` or `final_answer`, by the model. */
  z.object({ type: z.literal("message"), chars: z.number().int().min(0), phase: z.string().optional() }),
  /** The next of its calls. */
  z.object({ type: z.literal("function_call") }),
]);

/** One item of an answer of the Responses API: what was thought as it is, all else only by where it stands. */
export type OutputItem = z.infer<typeof outputItem>;

/** The order of an answer's items; undefined where these are not thoughts of this form. */
export function readItems(thoughts: Thoughts): readonly OutputItem[] | undefined {
  const items = z.array(outputItem).safeParse(thoughts);
  return items.success && items.data.some(({ type }) => type === "reasoning") ? items.data : undefined;
}
