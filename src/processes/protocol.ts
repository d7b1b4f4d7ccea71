import * as z from "zod";

import {
  anyNumber,
  cleaningPlan,
  foundMemory,
  indexCheck,
  memoriesShown,
  memory,
  memoryAdvance,
  memoryCutoffs,
  memoryListing,
  memoryRecall,
  memorySearch,
  memoryStanding,
  newMemory,
  recallAhead,
  recalledMemory,
  saidMemory,
  slowVectorsReport,
} from "./memory-schemas.ts";
import {
  account,
  arrival,
  bytes,
  bytesByName,
  changesByName,
  chatFacts,
  retryDelay,
  endReport,
  groupFacts,
  handle,
  incomingMessage,
  incomingReaction,
  list,
  mediaFile,
  modelAnswer,
  pictureLimits,
  readPicture,
  seconds,
  sendOrder,
  sendOutcome,
  settings,
  short,
  startOrder,
  text,
  transcriptChars,
  usage,
  waveform,
  words,
} from "./message-schemas.ts";

/*
 * Everything that crosses between the host and its processes: the WhatsApp worker, plugins, the media reader, the
 * memory thread and the process of its local model. Each end checks what comes in by these schemas. Those of code that
 * is not ours are strict and bounded; the others leave out what they do not name.
 */

/** A request, and what it is answered with. */
export interface Call<Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType> {
  readonly input: Input;
  readonly output: Output;
}

/** The requests that one end answers, and the news that it takes without an answer. */
export interface Side {
  readonly calls: Readonly<Record<string, Call>>;
  readonly news: Readonly<Record<string, z.ZodType>>;
}

/**
 * `json`: lines of JSON, for code that is not ours or may be taken over. `clone`: what the structured clone carries,
 * bytes as they are.
 */
export type Encoding = "json" | "clone";

/** The wire of one kind of process. */
export interface Protocol {
  readonly encoding: Encoding;
  /** Calls that the host answers, and news that it hears. */
  readonly host: Side;
  /** Calls that the process answers, and news that it hears. */
  readonly process: Side;
}

function call<Input extends z.ZodType, Output extends z.ZodType>(input: Input, output: Output): Call<Input, Output> {
  return { input, output };
}

const nothing = z.unknown().transform(() => undefined);
/** Undefined does not survive JSON. */
const maybe = <Value extends z.ZodType>(value: Value) => value.nullish().transform((given) => given ?? undefined);

/** An error on its way from one end to the other: its message, and what the host's own kinds know besides. */
export const failure = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("other"), message: words }),
  z.strictObject({ kind: z.literal("tool"), message: words }),
  z.strictObject({
    kind: z.literal("send"),
    message: words,
    permanent: z.boolean(),
    ambiguous: z.boolean(),
    retryAfterMs: retryDelay,
  }),
  z.strictObject({
    kind: z.literal("provider"),
    message: words,
    failure: z.enum(["rate-limited", "overloaded", "unavailable", "auth", "invalid", "too-long"]),
    retryAfterMs: retryDelay,
  }),
  z.strictObject({
    kind: z.literal("end"),
    message: words,
    end: z.enum(["lost", "restart", "conflict", "logged-out", "closed"]),
    isAlarm: z.boolean(),
    retryAfterMs: retryDelay,
  }),
  z.strictObject({ kind: z.literal("media"), message: words, failure: z.enum(["refused", "missing", "failed"]) }),
  z.strictObject({
    kind: z.literal("app"),
    message: words,
    code: z.string().max(64),
    fix: words.optional(),
    passing: z.boolean(),
  }),
]);

export type Failure = z.output<typeof failure>;

const name = z.string().min(1).max(64);

/** A message, by the key that tells its kind. */
export const frames = {
  /** Wants an answer. `of`: it belongs to this call of the other end. */
  call: z.strictObject({ call: name, id: handle, of: handle.optional(), value: z.unknown() }),
  /** Wants none. `of`: the call or the thing that it is about; 0: neither. */
  tell: z.strictObject({ tell: name, of: z.int().min(0), value: z.unknown() }),
  answer: z.strictObject({ answer: handle, value: z.unknown() }),
  failure: z.strictObject({ failure: handle, error: failure }),
  /** Nobody waits for the answer to this call. */
  cancel: z.strictObject({ cancel: handle }),
  /**
   * From a process, first of all and then again and again: it lives. From the host: every this many milliseconds,
   * please.
   */
  beat: z.strictObject({ beat: z.union([z.literal(true), z.int().min(1)]) }),
  /** From the host: end in good order. */
  end: z.strictObject({ end: z.literal(true) }),
  /** From a process: it is about to end because of an error of this kind at this place of the code; no data. */
  crash: z.strictObject({ crash: z.string().max(1_024) }),
} as const;

export type Frame = { readonly [Kind in keyof typeof frames]: z.output<(typeof frames)[Kind]> }[keyof typeof frames];

export const whatsappWorker = {
  encoding: "clone",
  process: {
    calls: {
      start: call(startOrder, nothing),
      send: call(sendOrder, sendOutcome),
      typing: call(z.object({ chat: z.string(), on: z.boolean() }), nothing),
      markRead: call(list(z.object({ chat: z.string(), id: z.string(), participant: z.string().optional() })), nothing),
      group: call(z.string(), maybe(groupFacts)),
      /**
       * Which LIDs these phone numbers have; numbers without one are left out. Rejects when the server does not say.
       */
      lidsOf: call(list(z.string()), list(z.object({ pn: z.string(), lid: z.string() }))),
      /** Hosts that files can be fetched from. */
      mediaHosts: call(nothing, list(z.string())),
      probe: call(nothing, nothing),
    },
    news: {},
  },
  host: {
    calls: {
      /** Answered when it is on disk. */
      arrived: call(arrival, nothing),
      isOwn: call(z.string(), z.boolean()),
      readKeys: call(list(z.string()), bytesByName),
      applyKeys: call(changesByName, nothing),
      sentBody: call(z.string(), maybe(bytes)),
      keepSent: call(z.object({ id: z.string(), seq: z.number().optional(), body: bytes }), nothing),
    },
    news: {
      qr: z.string(),
      pairingCode: z.string(),
      opened: account,
      ended: endReport,
      delivered: list(z.string()),
      groupChanged: groupFacts,
      named: list(z.object({ person: z.string(), name: z.string() })),
      /** Something the operator may want to know; constant words of the code, no data. */
      log: z.object({ level: z.enum(["debug", "warn"]), text: z.string() }),
    },
  },
} as const satisfies Protocol;

const sendable = z.record(z.string(), z.unknown());
const space = z.strictObject({ channel: short, space: short });
const base64 = z.string().max(4_000_000);
const byConnection = z.strictObject({ connection: handle });
const byProvider = z.strictObject({ provider: handle });

/** A plugin: its code is a stranger's. */
export const plugin = {
  encoding: "json",
  process: {
    calls: {
      /** Lists what the plugin provides; the host compares this with what the plugin said when it was installed. */
      describe: call(z.null(), z.unknown()),
      toolRun: call(
        z.strictObject({ tool: short, input: z.unknown(), settings, group: short, turn: short }),
        z.strictObject({ output: text, isError: z.boolean() }),
      ),
      channelConnect: call(
        z.strictObject({
          channel: short,
          connection: handle,
          settings,
          assistantName: short,
          instance: short,
          chats: z.array(short).max(10_000),
          wantsReactions: z.boolean(),
        }),
        z.strictObject({
          idempotent: z.boolean(),
          remark: short.optional(),
          can: z.array(z.enum(["reconcile", "signal", "react", "showProgress", "probe"])).max(5),
        }),
      ),
      channelClose: call(byConnection, nothing),
      channelProbe: call(byConnection, nothing),
      channelSend: call(byConnection.extend({ message: sendable }), nothing),
      channelReconcile: call(
        byConnection.extend({ message: sendable }),
        z.enum(["accepted", "absent", "unknown"]).catch("unknown"),
      ),
      channelSignal: call(byConnection.extend({ chat: short, sign: z.enum(["queued", "working", "idle"]) }), nothing),
      channelReact: call(byConnection.extend({ chat: short, reaction: sendable }), nothing),
      channelProgress: call(byConnection.extend({ chat: short, line: sendable }), nothing),
      providerOpen: call(byProvider.extend({ kind: short, settings, name: short, silenceMs: z.number() }), nothing),
      providerComplete: call(
        byProvider.extend({ request: sendable, images: z.array(z.tuple([short, z.string()])).max(256) }),
        modelAnswer,
      ),
      providerCheck: call(byProvider, z.strictObject({ ok: z.boolean(), detail: short })),
      providerClose: call(byProvider, nothing),
    },
    news: {},
  },
  host: {
    calls: {
      accept: call(z.strictObject({ channel: short, connection: handle, message: incomingMessage }), z.unknown()),
      reacted: call(z.strictObject({ channel: short, connection: handle, reaction: incomingReaction }), z.unknown()),
      /** From a tool, while it runs. */
      send: call(z.strictObject({ text }), nothing),
      stateRead: call(space.extend({ keys: z.array(short).max(1_000) }), z.unknown()),
      stateList: call(space, z.unknown()),
      stateApply: call(space.extend({ changes: z.array(z.tuple([short, base64.nullable()])).max(1_000) }), nothing),
      stateRename: call(space.extend({ to: short }), nothing),
      outgoingAfter: call(
        z.strictObject({ channel: short, seq: z.int(), limit: z.int().min(1).max(1_000) }),
        z.unknown(),
      ),
      outgoingGet: call(z.strictObject({ channel: short, seq: z.int() }), z.unknown()),
      outgoingSentTo: call(z.strictObject({ channel: short, chat: short }), z.unknown()),
    },
    news: {
      heard: z.null(),
      delivered: z.int(),
      chatChanged: chatFacts,
      degraded: short.nullable(),
      /** The connection is gone. */
      ended: failure.catch({ kind: "other", message: "the connection has ended" }),
      delta: text,
      usage,
    },
  },
} as const satisfies Protocol;

/**
 * The reader of strangers' files. What belongs to files stays in files: `in/<file>` is read, `out/<file>` written where
 * there is something to write.
 */
export const mediaReader = {
  encoding: "json",
  process: {
    calls: {
      /** Tells which files can be read here: pictures at all, and those in HEIC. The file is not looked at. */
      abilities: call(
        z.strictObject({ file: mediaFile }),
        z.strictObject({ pictures: z.boolean(), heic: z.boolean() }),
      ),
      /** A picture as models are shown it: upright, without metadata, no larger than is of use. */
      picture: call(z.strictObject({ file: mediaFile, ...pictureLimits }), readPicture),
      /** Measures the length of a recording, and its loudness over time where asked for and the encoding tells. */
      sound: call(
        z.strictObject({ file: mediaFile, waveform: z.boolean() }),
        z.strictObject({ seconds, waveform: waveform.optional() }),
      ),
      /** Transcribes a recording with the local model in a folder; one of more than `mostSeconds` is refused. */
      transcribe: call(
        z.strictObject({ file: mediaFile, model: z.string().min(1).max(4_096), mostSeconds: seconds }),
        z.strictObject({ text: z.string().max(transcriptChars) }),
      ),
    },
    news: {},
  },
  host: { calls: {}, news: {} },
} as const satisfies Protocol;

const path = z.string();
const ids = list(z.string());

/** A call about the memory in one group's file. */
function ofMemory<Parameters extends z.ZodType<readonly unknown[]>, Output extends z.ZodType>(
  parameters: Parameters,
  output: Output,
) {
  return call(z.object({ path, parameters }), output);
}

/** The thread that reads and writes memories, in the host's own process. */
export const memoryThread = {
  encoding: "clone",
  process: {
    calls: {
      standing: ofMemory(z.tuple([]), memoryStanding),
      /** Everything or nothing; answers how it stands then. */
      advance: ofMemory(z.tuple([list(newMemory), memoryAdvance]), memoryStanding),
      /** Returns the newest messages that were not yet looked at for facts, in order. */
      unextracted: ofMemory(z.tuple([anyNumber]), list(saidMemory)),
      /** Makes the vector of what will be asked for, and looks it up where it is known how. */
      foresee: ofMemory(z.tuple([z.string(), recallAhead.optional()]), nothing),
      /** Returns the newest messages from one moment on and before another one, in order. */
      saidBetween: ofMemory(z.tuple([anyNumber, anyNumber, anyNumber]), list(saidMemory)),
      search: ofMemory(z.tuple([z.string(), memorySearch]), list(foundMemory)),
      recall: ofMemory(z.tuple([z.string(), memoryRecall, memoriesShown]), list(recalledMemory)),
      get: ofMemory(z.tuple([z.string()]), maybe(memory)),
      list: ofMemory(z.tuple([memoryListing]), list(memory)),
      forget: ofMemory(z.tuple([ids]), anyNumber),
      /** The steps of a cleaning, in this order. */
      planCleaning: ofMemory(z.tuple([anyNumber, memoryCutoffs]), cleaningPlan),
      noteAnnounced: ofMemory(z.tuple([]), nothing),
      cleanSome: ofMemory(z.tuple([memoryCutoffs]), anyNumber),
      checkIndex: ofMemory(z.tuple([anyNumber]), indexCheck),
      endCleaning: ofMemory(z.tuple([anyNumber]), nothing),
    },
    news: {},
  },
  host: {
    calls: {},
    news: { slow: slowVectorsReport },
  },
} as const satisfies Protocol;

/** The process of the local model of memories. */
export const embedder = {
  encoding: "clone",
  process: {
    calls: { embed: call(ids, list(z.custom<Float32Array>((value) => value instanceof Float32Array))) },
    news: {},
  },
  host: { calls: {}, news: {} },
} as const satisfies Protocol;
