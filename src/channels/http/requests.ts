import * as z from "zod";

const reference = z.string().min(1).max(256);
const name = z.string().max(256);

const replyTo = z.strictObject({
  id: reference,
  author: name.optional(),
  text: z.string().optional(),
  toAgent: z.boolean().optional(),
});

/** `data` in base64: what it holds is looked at when it is written. */
const attachment = z.strictObject({
  name: name.optional(),
  mimeType: z.string().regex(/^[\w.+-]{1,64}\/[\w.+-]{1,128}$/, "must look like image/png"),
  data: z.string().min(1),
});

/** `POST …/messages`. How long a text may be is not said here: the router knows. */
const messageBody = z
  .strictObject({
    id: reference,
    group: reference,
    sender: z.strictObject({ id: reference, name }),
    text: z.string().default(""),
    mention: z.boolean().default(false),
    forwarded: z.boolean().optional(),
    thread: reference.optional(),
    replyTo: z.preprocess((value) => (typeof value === "string" ? { id: value } : value), replyTo).optional(),
    attachments: z.array(attachment).max(16).default([]),
  })
  .refine(({ text, attachments }) => text !== "" || attachments.length > 0, {
    path: ["text"],
    message: "must not be empty without attachments",
  });

/** `POST …/reactions`. `seq` is what `GET …/replies` says; an empty emoji takes back what was there. */
const reactionBody = z.strictObject({
  id: reference,
  group: reference,
  sender: z.strictObject({ id: reference, name }),
  seq: z.int("must be the seq of a reply").min(1).max(999_999_999_999_999),
  emoji: z.string().max(64),
});

const longestWaitS = 60;

/** `GET …/replies`. A longer wait than a minute is cut to one. */
const repliesQuery = z.strictObject({
  after: z
    .string()
    .regex(/^\d{1,15}$/, "must be a whole number, 0 or more")
    .default("0")
    .transform(Number),
  wait: z
    .string()
    .regex(/^\d{1,6}(\.\d{1,3})?$/, "must be a number of seconds, 0 or more")
    .default("0")
    .transform((seconds) => Math.min(Number(seconds), longestWaitS)),
});

export type MessageBody = z.infer<typeof messageBody>;
export type ReactionBody = z.infer<typeof reactionBody>;
export type RepliesQuery = z.infer<typeof repliesQuery>;

/** A parsed request, or its fault with a path. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly path: string; readonly message: string };

export function parseMessageBody(body: unknown): Parsed<MessageBody> {
  return parse(messageBody, body, "body");
}

export function parseReactionBody(body: unknown): Parsed<ReactionBody> {
  return parse(reactionBody, body, "body");
}

export function parseRepliesQuery(query: unknown): Parsed<RepliesQuery> {
  return parse(repliesQuery, query, "query");
}

function parse<T>(schema: z.ZodType<T>, input: unknown, whole: string): Parsed<T> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return { ok: true, value: parsed.data };
  const [issue] = parsed.error.issues;
  const unknownKey = issue?.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  const path = [...(issue?.path ?? []), ...unknownKey].join(".") || whole;
  return { ok: false, path, message: `${path}: ${issue?.message ?? "cannot be understood"}` };
}
