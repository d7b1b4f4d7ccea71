import * as z from "zod";

import type { ReplyTarget } from "../../domain/work/work.ts";

/** Names, codes and ids. */
export const name = z.string().min(1).max(256);

/** For what takes no parameters. */
export const nothing = z.strictObject({});

/** A truth value, also as a query has it. */
export const flag = z.union([z.boolean(), z.stringbool()]).default(false);

/** A truth value that holds where nothing is said. */
export const optOut = z.union([z.boolean(), z.stringbool()]).default(true);

/** Narrows a list to one group. */
export const onlyGroup = name.optional().describe("only this group");

/** The most items of a list, 1 to 1,000. */
export function limit(usual: number, most = 1_000) {
  return z.coerce.number().int().min(1).max(most).default(usual).describe("maximum number of results");
}

/** Milliseconds since 1970. */
export const time = z.number().meta({ description: "Milliseconds since 1970", format: "unix-ms" });

/** An ISO 8601 time. */
export const isoTime = z.string().meta({ description: "ISO 8601", format: "date-time" });

/** Characters of a long text that a list shows. */
export const listedChars = 400;

/** A schema of values whose type is defined elsewhere, more exactly than zod can say it. */
export function schemaOf<Value>(schema: z.ZodType): z.ZodType<Value> {
  return schema as unknown as z.ZodType<Value>;
}

/** A read-only list. */
export function list<Item extends z.ZodType>(
  item: Item,
): z.ZodType<readonly z.output<Item>[], readonly z.input<Item>[]> {
  return z.array(item);
}

/** The place where the answer of a turn goes. */
export const replyTarget: z.ZodType<ReplyTarget> = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("chat"),
    channel: z.string(),
    chat: z.string(),
    thread: z.string().optional(),
  }),
  z.strictObject({
    kind: z.literal("session"),
    session: z.string(),
    group: z.strictObject({ name: z.string(), channel: z.string(), chat: z.string() }).optional(),
  }),
  z.strictObject({ kind: z.literal("nowhere") }),
]);
