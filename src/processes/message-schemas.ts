import * as z from "zod";

/*
 * The things that messages between the host and its processes carry; the messages themselves are in `protocol.ts`. What
 * comes from code that is not ours is strict and bounded, the rest leaves out what it does not name.
 */

export const text = z.string().max(1_000_000);
export const short = z.string().max(1_024);
export const handle = z.int().min(1);
/** The message of an error: at most 2,000 characters, and a note that it was cut. */
export const words = z.string().max(2_040);
export const retryDelay = z.number().min(0).max(86_400_000).optional();
export const settings = z.record(z.string(), z.unknown());

/** A list that nobody changes. */
export const list = <Item extends z.ZodType>(item: Item, most = 1_000_000) => z.array(item).max(most).readonly();

export const bytesByName = z.custom<ReadonlyMap<string, Uint8Array>>((map) => isMap(map, (value) => isBytes(value)));
export const changesByName = z.custom<ReadonlyMap<string, Uint8Array | null>>((map) =>
  isMap(map, (value) => value === null || isBytes(value)),
);
export const bytes = z.custom<Uint8Array>(isBytes);

function isBytes(value: unknown): boolean {
  return value instanceof Uint8Array;
}

function isMap(map: unknown, isValue: (value: unknown) => boolean): boolean {
  return map instanceof Map && map.entries().every(([key, value]) => typeof key === "string" && isValue(value));
}

export const startOrder = z.object({
  /** `link`: with new keys, which are stored only when the account is linked. */
  mode: z.enum(["link", "connect"]),
  phoneNumber: z.string().optional(),
  webSocketUrl: z.string().optional(),
  /** The server that is believed to be WhatsApp: the one with the real root key, with this one, or (for tests) any. */
  trust: z.discriminatedUnion("root", [
    z.object({ root: z.literal("real") }),
    z.object({ root: z.literal("given"), key: z.string() }),
    z.object({ root: z.literal("any") }),
  ]),
  /** Version of the WhatsApp Web client that we say we are. */
  version: z.tuple([z.number(), z.number(), z.number()]).readonly().optional(),
  /** Ask WhatsApp for the newest version first. */
  newestVersion: z.boolean(),
});

const quote = z.object({ id: z.string(), sender: z.string(), text: z.string() }).optional();
const mentions = list(z.string());
const outgoingFile = z.object({
  path: z.string(),
  name: z.string(),
  mimeType: z.string(),
  bytes: z.number(),
  voice: z.object({ seconds: z.number().optional(), waveform: list(z.number()).optional() }).optional(),
});

/** One message of the platform. */
export const sendOrder = z.object({
  chat: z.string(),
  /** Our own; the same one is never shown twice. */
  id: z.string(),
  /** The number in the outbox of what it is, or is a part of; absent: it is nothing that stays. */
  seq: z.number().optional(),
  content: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("text"), text: z.string(), mentions, quote }),
    z.object({ kind: z.literal("file"), file: outgoingFile, caption: z.string(), mentions, quote }),
    z.object({ kind: z.literal("edit"), message: z.string(), text: z.string() }),
    z.object({ kind: z.literal("reaction"), message: z.string(), sender: z.string(), emoji: z.string() }),
  ]),
});

/**
 * Outcome of sending. `cut`: the connection ended before the server answered. `code`: the server's, where it refused.
 */
export const sendOutcome = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.literal("accepted") }),
  z.object({ outcome: z.literal("refused"), code: z.number().optional(), reason: z.string() }),
  z.object({ outcome: z.literal("cut") }),
]);

/** Address of a file's encrypted bytes and the keys that open them. Bytes as base64. */
const mediaReference = z.object({
  kind: z.enum(["image", "audio", "video", "document"]),
  /** The word for this kind of file that its keys are derived with. */
  keyWord: z.enum(["Image", "Video", "Audio", "Document"]),
  directPath: z.string(),
  mediaKey: z.string(),
  sha256: z.string(),
  mimeType: z.string(),
  name: z.string().optional(),
  bytes: z.number().optional(),
});

/**
 * A member's action in a chat, as the worker understood it: plain data, kept in the journal as JSON until the host has
 * it. Ids of people and chats are those of WhatsApp (`…@lid`, `…@s.whatsapp.net`, `…@g.us`), without device.
 */
export const arrival = z.object({
  chat: z.string(),
  id: z.string(),
  /** The LID when it is known, otherwise the phone number. */
  sender: z.string(),
  /** The other one of the two. */
  senderAlias: z.string().optional(),
  senderName: z.string().optional(),
  /** The platform's own words for chat and sender, to answer the message with. */
  address: z.object({ chat: z.string(), participant: z.string().optional() }),
  text: z.string(),
  /** People that the text names; it says `@` and the digits of their id. */
  mentions,
  /** It is said to the agent: it mentions the agent's account, or there is nobody else in the chat. */
  toAgent: z.boolean(),
  quote: z
    .object({ id: z.string(), author: z.string().optional(), text: z.string().optional(), toAgent: z.boolean() })
    .optional(),
  media: list(mediaReference),
  /** It is an emoji on a message of ours, or (empty) takes one back, and says nothing else. */
  reaction: z.object({ message: z.string(), emoji: z.string() }).optional(),
  /** Passed on from another chat. */
  forwarded: z.boolean().optional(),
  /** Milliseconds since 1970. */
  sentAt: z.number().optional(),
});

/** Facts about a group. */
export const groupFacts = z.object({
  chat: z.string(),
  title: z.string().optional(),
  /** Kind of ids by which the group names its members. */
  addressing: z.enum(["lid", "pn"]),
  members: list(z.object({ lid: z.string().optional(), pn: z.string().optional() })),
  /** The account has left the group. */
  left: z.boolean(),
});

/** The account itself. */
export const account = z.object({ pn: z.string(), lid: z.string().optional() });

/**
 * Reason for the end of a connection: the library's number, words for people, and seconds until the account is let in
 * again, where the server said so.
 */
export const endReport = z.object({ code: z.number(), reason: z.string(), expireS: z.number().optional() });

export type TrustedRoot = StartOrder["trust"];
export type StartOrder = z.output<typeof startOrder>;
export type SendOrder = z.output<typeof sendOrder>;
export type SendOutcome = z.output<typeof sendOutcome>;
export type EndReport = z.output<typeof endReport>;
export type MediaReference = z.output<typeof mediaReference>;
export type Arrival = z.output<typeof arrival>;
export type GroupFacts = z.output<typeof groupFacts>;
export type GroupMember = GroupFacts["members"][number];
export type Account = z.output<typeof account>;

const sender = z.strictObject({ id: short, name: short });

const attachment = z.strictObject({
  kind: z.enum(["image", "audio", "video", "document"]),
  name: short.optional(),
  mimeType: short,
  bytes: z.number().min(0).optional(),
});

const incomingQuote = z.strictObject({
  id: short,
  author: short.optional(),
  text: text.optional(),
  toAgent: z.boolean().optional(),
  seq: z.int().optional(),
});

/** An `IncomingMessage` of the channel of a plugin; its files do not cross. */
export const incomingMessage = z.strictObject({
  channel: short,
  chat: short,
  id: short,
  sender,
  text,
  mention: z.boolean(),
  quote: incomingQuote.optional(),
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
  seq: z.int(),
  emoji: short,
});

export const chatFacts = z.strictObject({
  chat: short,
  title: short.optional(),
  members: z.array(sender).max(5_000).optional(),
  left: z.boolean().optional(),
});

export const usage = z.strictObject({
  inputTokens: z.number().min(0),
  cachedInputTokens: z.number().min(0),
  writtenInputTokens: z.number().min(0).optional(),
  outputTokens: z.number().min(0),
  isEstimate: z.literal(true).optional(),
});

export const modelAnswer = z.strictObject({
  text: z.string().max(4_000_000),
  toolCalls: z.array(z.strictObject({ id: short, name: short, input: z.unknown() })).max(256),
  stop: z.enum(["end", "tool-calls", "length", "refusal"]),
  usage,
  model: short,
});

const side = z.int().min(1).max(1_000_000);

/** The name of a file in the folders of the media reader. */
export const mediaFile = z.string().regex(/^[0-9a-f-]{36}$/);

export const pictureLimits = {
  /** Maximum size of the picture as the model is shown it. */
  maxBytes: z.int().min(1),
  /** A larger picture is not decoded. */
  maxPixels: z.int().min(1),
  /** Longest edge of a photograph, and of what is mostly text. */
  photoEdge: side,
  documentEdge: side,
};

export const readPicture = z.strictObject({
  /** Kind of the original. */
  from: z.enum(["image/jpeg", "image/png", "image/gif", "image/webp", "image/tiff", "image/heic", "image/avif"]),
  /** Kind of the file that was written. */
  to: z.enum(["image/jpeg", "image/png"]),
  width: side,
  height: side,
  /** Frames of the original; only the first is shown. */
  frames: z.int().min(1),
});

/** Longer than anybody speaks, and short enough to be a number. */
export const seconds = z.number().min(0).max(1_000_000);

/** Bars of the picture that phones draw of a voice message: its loudness. */
export const waveformBars = 64;

export const waveform = z.array(z.int().min(0).max(100)).length(waveformBars);

/** Maximum length of what is heard in a recording. */
export const transcriptChars = 50_000;
