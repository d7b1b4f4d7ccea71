import * as z from "zod";

import type { ScriptDigest } from "../../../domain/rights/policy.ts";
import { accesses } from "../../../domain/chats/group.ts";
import type { ToldFacts } from "../../../domain/turns/conversation.ts";
import type {
  OutgoingFile,
  OutgoingReaction,
  Sender,
  StoredAttachment,
  StoredQuote,
} from "../../../domain/chats/message.ts";
import type { OfferedTool, ToolResult } from "../../../domain/turns/model.ts";
import { origins, type Origin } from "../../../domain/people/origin.ts";
import type { KeptChange } from "../../../domain/rights/approval.ts";
import { actions, risks } from "../../../domain/rights/policy.ts";
import type { BlobPart, Part } from "../../../domain/chats/part.ts";
import type { StepBody, TurnTimes } from "../../../domain/turns/turn.ts";
import type { Timing } from "../../../domain/work/task.ts";
import type { ReplyTarget } from "../../../domain/work/work.ts";
import { AppError } from "../../../lib/app-error.ts";

const count = z.number().min(0);

const blobPart = <Kind extends BlobPart["kind"]>(kind: Kind) =>
  z.strictObject({
    kind: z.literal(kind),
    blob: z.string().regex(/^[0-9a-f]{64}$/),
    mimeType: z.string(),
    bytes: count,
    name: z.string().optional(),
    frames: count.optional(),
  });

const part: z.ZodType<Part> = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("text"), text: z.string() }),
  blobPart("image"),
  blobPart("audio"),
  blobPart("file"),
]);

// What is text alone is kept as text: so it always was, and it is what nearly all steps are.
const toolResult: z.ZodType<ToolResult> = z.union([
  z.strictObject({ callId: z.string(), output: z.string(), isError: z.boolean() }),
  z.strictObject({ callId: z.string(), parts: z.array(part), isError: z.boolean() }),
]);

const answer = z.strictObject({
  text: z.string(),
  toolCalls: z.array(z.strictObject({ id: z.string(), name: z.string(), input: z.unknown() })),
  stop: z.enum(["end", "tool-calls", "length", "refusal"]),
  usage: z.strictObject({
    inputTokens: count,
    cachedInputTokens: count,
    writtenInputTokens: count.optional(),
    outputTokens: count,
    isEstimate: z.literal(true).optional(),
  }),
  model: z.string(),
  // In its vendor's form, which only its provider knows.
  thoughts: z.array(z.record(z.string(), z.unknown())).optional(),
});

const scripts = z.array(z.strictObject({ path: z.string(), sha256: z.string().optional() }));

const verdicts = z.array(
  z.strictObject({
    callId: z.string(),
    action: z.enum(actions),
    risk: z.enum(risks),
    rule: z.string(),
    command: z.strictObject({ command: z.string(), timeout_s: z.number() }).optional(),
    approved: z.strictObject({ directory: z.string().optional(), scripts: scripts.optional() }).optional(),
  }),
);

const timing: z.ZodType<Timing> = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("at"), at: count }),
  z.strictObject({ kind: z.literal("every"), everyMs: count, since: z.number() }),
  z.strictObject({ kind: z.literal("cron"), cron: z.string() }),
]);

const stepBody: z.ZodType<StepBody> = z.union([
  z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("user"), text: z.string() }),
    z.strictObject({
      kind: z.literal("model"),
      answer,
      denied: z.array(toolResult),
      verdicts: verdicts.optional(),
      asked: z.array(z.string()).optional(),
    }),
    z.strictObject({ kind: z.literal("tools"), results: z.array(toolResult) }),
  ]),
  z.strictObject({ kind: z.literal("user"), parts: z.array(part) }),
]);

const quote: z.ZodType<StoredQuote> = z.strictObject({
  id: z.string(),
  author: z.union([z.literal("agent"), z.strictObject({ id: z.string(), name: z.string() })]).optional(),
  text: z.string().optional(),
  origins: z.array(z.enum(origins)).optional(),
});

const attachment: z.ZodType<StoredAttachment> = z.strictObject({
  kind: z.enum(["image", "audio", "video", "document"]),
  name: z.string().optional(),
  file: z
    .strictObject({ path: z.string(), mimeType: z.string(), bytes: count, sha256: z.string().optional() })
    .optional(),
  failure: z.string().optional(),
  heard: z
    .strictObject({
      seconds: z.number().optional(),
      transcribed: z.boolean().optional(),
      failure: z.string().optional(),
    })
    .optional(),
});
const attachments = z.array(attachment);

const outgoingFile: z.ZodType<OutgoingFile> = z.strictObject({
  path: z.string(),
  name: z.string(),
  mimeType: z.string(),
  bytes: count,
  voice: z.strictObject({ seconds: z.number().optional(), waveform: z.array(z.number()).optional() }).optional(),
});
const reaction: z.ZodType<OutgoingReaction> = z.strictObject({
  message: z.string(),
  sender: z.string(),
  emoji: z.string(),
});

const members: z.ZodType<Sender[]> = z.array(z.strictObject({ id: z.string(), name: z.string() }));

const replyTarget: z.ZodType<ReplyTarget> = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("chat"), channel: z.string(), chat: z.string(), thread: z.string().optional() }),
  z.strictObject({
    kind: z.literal("session"),
    session: z.string(),
    group: z.strictObject({ name: z.string(), channel: z.string(), chat: z.string() }).optional(),
  }),
  z.strictObject({ kind: z.literal("nowhere") }),
]);

const keptChanges: z.ZodType<KeptChange[]> = z.array(z.strictObject({ path: z.string(), reason: z.string() }));

const toldFacts: z.ZodType<ToldFacts> = z.strictObject({
  agentName: z.string(),
  timeZone: z.string(),
  instructions: z.string(),
  title: z.string(),
  members: z.array(z.string()),
  folders: z.array(
    z.strictObject({
      path: z.string(),
      access: z.enum(accesses),
      covered: z.array(z.string()).optional(),
      protect: z.array(z.string()).optional(),
    }),
  ),
  network: z.array(z.string()),
  skills: z.array(z.strictObject({ name: z.string(), description: z.string() })).optional(),
  packages: z.string().optional(),
  lacksPackages: z.boolean().optional(),
  tools: z.array(z.string()).optional(),
  decidedAt: z.number().optional(),
});

/** Settings of a group; the configuration validates them. */
const groupSettings = z.record(z.string(), z.unknown());

const times: z.ZodType<TurnTimes> = z.record(z.string(), count);
const sectionTokens = z.record(z.string(), z.number().nonnegative());
const texts = z.array(z.string());
const originList = z.array(z.enum(origins));

const offeredTools: z.ZodType<OfferedTool[]> = z.array(
  z.strictObject({
    name: z.string(),
    description: z.string(),
    inputSchema: z.record(z.string(), z.unknown()),
    origins: originList,
  }),
);

/** Reads a JSON column; what does not fit is damage, told as AppError `store_failed` with the column's name. */
function parse<T>(column: string, schema: z.ZodType<T>, json: string): T {
  try {
    return schema.parse(JSON.parse(json));
  } catch (cause) {
    throw new AppError("store_failed", `A row of the store has an unreadable value in column ${column}.`, {
      cause,
    });
  }
}

export const parseStepBody = (json: string): StepBody => parse("steps.body", stepBody, json);
export const parseQuote = (json: string): StoredQuote => parse("messages.quote", quote, json);
export const parseAttachments = (json: string): StoredAttachment[] => parse("messages.attachments", attachments, json);
export const parseOutgoingFile = (json: string): OutgoingFile => parse("outbox.file", outgoingFile, json);
export const parseReaction = (json: string): OutgoingReaction => parse("outbox.reaction", reaction, json);
export const parseMembers = (json: string): Sender[] => parse("chats.members", members, json);
export const parseGroupSettings = (json: string): Record<string, unknown> =>
  parse("groups.settings", groupSettings, json);
export const parseTimes = (json: string): TurnTimes => parse("turns.times", times, json);
export const parseToldFacts = (json: string): ToldFacts => parse("conversation_prompts.told", toldFacts, json);
export const parseReplyTarget = (json: string): ReplyTarget => parse("reply_to", replyTarget, json);
export const parseOfferedTools = (json: string): OfferedTool[] => parse("offered_tools.tools", offeredTools, json);
export const parseOrigins = (json: string): Origin[] => parse("turns.origins", originList, json);
export const parseKept = (json: string): KeptChange[] => parse("approvals.kept", keptChanges, json);
export const parseScripts = (json: string): ScriptDigest[] => parse("approvals.scripts", scripts, json);
export const parseTiming = (json: string): Timing => parse("tasks.timing", timing, json);
export const parseSectionTokens = (json: string): Record<string, number> =>
  parse("conversation_prompts.sections", sectionTokens, json);
export const parseTexts = (json: string): string[] => parse("outbox.in_reply_to", texts, json);
