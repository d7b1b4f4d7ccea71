import * as z from "zod";

/*
 * What the host asks of a plugin's process and the process of the host. Both ends check what comes in by these schemas;
 * what a schema does not name is refused.
 */

const text = z.string().max(1_000_000);
const short = z.string().max(1_024);
const handle = z.number().int().min(1);
const settings = z.record(z.string(), z.unknown());

const sender = z.strictObject({ id: short, name: short });

const attachment = z.strictObject({
  kind: z.enum(["image", "audio", "video", "document"]),
  name: short.optional(),
  mimeType: short,
  bytes: z.number().min(0).optional(),
});

/** As `IncomingMessage`; its files are fetched by their number. */
export const incomingMessage = z.strictObject({
  channel: short,
  chat: short,
  id: short,
  sender,
  text,
  mention: z.boolean(),
  quote: z
    .strictObject({
      id: short,
      author: short.optional(),
      text: text.optional(),
      toAgent: z.boolean().optional(),
      seq: z.number().int().optional(),
    })
    .optional(),
  attachments: z.array(attachment).max(32).optional(),
  direct: z.boolean().optional(),
  chatTitle: short.optional(),
  sentAt: z.number().optional(),
  forwarded: z.boolean().optional(),
  thread: short.optional(),
});

export const incomingReaction = z.strictObject({
  channel: short,
  chat: short,
  id: short,
  sender,
  seq: z.number().int(),
  emoji: short,
});

const usage = z.strictObject({
  inputTokens: z.number().min(0),
  cachedInputTokens: z.number().min(0),
  writtenInputTokens: z.number().min(0).optional(),
  outputTokens: z.number().min(0),
  isEstimate: z.literal(true).optional(),
});

const modelAnswer = z.strictObject({
  text: z.string().max(4_000_000),
  toolCalls: z.array(z.strictObject({ id: short, name: short, input: z.unknown() })).max(256),
  stop: z.enum(["end", "tool-calls", "length", "refusal"]),
  usage,
  model: short,
});

const bytes = z.string().max(4_000_000);
const space = z.strictObject({ space: short });

/** What a plugin asks of the host: the value of each call. */
export const hostCalls = {
  accept: z.strictObject({ channel: short, connection: handle, message: incomingMessage }),
  reacted: z.strictObject({ channel: short, connection: handle, reaction: incomingReaction }),
  /** Of a tool, while it runs. */
  send: z.strictObject({ text }),
  stateRead: space.extend({ channel: short, keys: z.array(short).max(1_000) }),
  stateList: space.extend({ channel: short }),
  stateApply: space.extend({ channel: short, changes: z.array(z.tuple([short, bytes.nullable()])).max(1_000) }),
  stateRename: space.extend({ channel: short, to: short }),
  outgoingAfter: z.strictObject({ channel: short, seq: z.number().int(), limit: z.number().int().min(1).max(1_000) }),
  outgoingGet: z.strictObject({ channel: short, seq: z.number().int() }),
  outgoingAwaited: z.strictObject({ channel: short }),
} as const;

export type HostCalls = { readonly [Name in keyof typeof hostCalls]: z.output<(typeof hostCalls)[Name]> };

const facts = z.strictObject({
  chat: short,
  title: short.optional(),
  members: z.array(sender).max(5_000).optional(),
  left: z.boolean().optional(),
});

/** What a plugin tells the host without waiting. */
export const hostNews = {
  heard: z.null(),
  delivered: z.number().int(),
  chatChanged: facts,
  degraded: short.nullable(),
  /** The connection is gone: see `failures.ts`. */
  ended: z.unknown(),
  delta: z.string().max(1_000_000),
  usage,
} as const;

/** What the host asks of a plugin. */
export const pluginCalls = {
  describe: z.null(),
  toolRun: z.strictObject({ tool: short, input: z.unknown(), settings, group: short, turn: short }),
  channelConnect: z.strictObject({
    channel: short,
    connection: handle,
    settings,
    assistantName: short,
    instance: short,
    chats: z.array(short).max(10_000),
    wantsReactions: z.boolean(),
  }),
  channelClose: z.strictObject({ connection: handle }),
  channelProbe: z.strictObject({ connection: handle }),
  channelSend: z.strictObject({ connection: handle, message: z.record(z.string(), z.unknown()) }),
  channelReconcile: z.strictObject({ connection: handle, message: z.record(z.string(), z.unknown()) }),
  channelSignal: z.strictObject({ connection: handle, chat: short, sign: z.enum(["queued", "working", "idle"]) }),
  channelReact: z.strictObject({ connection: handle, chat: short, reaction: z.record(z.string(), z.unknown()) }),
  channelProgress: z.strictObject({ connection: handle, chat: short, line: z.record(z.string(), z.unknown()) }),
  providerComplete: z.strictObject({
    provider: handle,
    request: z.record(z.string(), z.unknown()),
    images: z.array(z.tuple([short, z.string()])).max(256),
  }),
  providerOpen: z.strictObject({ provider: handle, kind: short, settings, name: short, silenceMs: z.number() }),
  providerCheck: z.strictObject({ provider: handle }),
  providerClose: z.strictObject({ provider: handle }),
} as const;

export type PluginCalls = { readonly [Name in keyof typeof pluginCalls]: z.output<(typeof pluginCalls)[Name]> };

/** What a plugin answers, by the call. */
export const pluginAnswers = {
  toolRun: z.strictObject({ output: z.string().max(1_000_000), isError: z.boolean() }),
  channelConnect: z.strictObject({
    idempotent: z.boolean(),
    remark: short.optional(),
    can: z.array(z.enum(["reconcile", "signal", "react", "showProgress", "probe"])).max(5),
  }),
  channelReconcile: z.enum(["accepted", "absent", "unknown"]),
  providerComplete: modelAnswer,
  providerCheck: z.strictObject({ ok: z.boolean(), detail: short }),
} as const;
