import * as z from "zod";

import type { Thoughts } from "../../domain/turns/model.ts";

const contentItem = z.discriminatedUnion("type", [
  z.object({ type: z.literal("thinking"), thinking: z.string(), signature: z.string() }),
  z.object({ type: z.literal("redacted_thinking"), data: z.string() }),
  /** A number of characters of the answer's text. */
  z.object({ type: z.literal("text"), chars: z.number().int().min(0) }),
  /** The next of its calls. */
  z.object({ type: z.literal("tool_use") }),
]);

/**
 * One block of an answer. Blocks of thinking are signed, each in its place: they are kept as they came
 * (https://platform.claude.com/docs/en/build-with-claude/extended-thinking), all else only by where it stands.
 */
export type ContentItem = z.infer<typeof contentItem>;

export function isThought({ type }: ContentItem): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

/** The order of an answer's content; undefined where these are not thoughts of this vendor's form. */
export function readContent(thoughts: Thoughts): readonly ContentItem[] | undefined {
  const items = z.array(contentItem).safeParse(thoughts);
  return items.success && items.data.some(isThought) ? items.data : undefined;
}
