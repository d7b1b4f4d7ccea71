import * as z from "zod";

import type { Group } from "../../domain/chats/group.ts";
import { type OutgoingMessage, outboxStates, outgoingKinds } from "../../domain/chats/message.ts";
import { AppError } from "../../lib/app-error.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { shorten } from "../../lib/text/visible.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { OutboxStore } from "../../stores/contract/outbox-store.ts";
import { defineOperation } from "../definition/define-operation.ts";
import { requireGroup } from "../lookup/require-group.ts";
import { flag, limit, list, name, onlyGroup, listedChars, time } from "../definition/schemas.ts";

/** The parts that send. */
export interface OutboxNeeds {
  readonly store: { readonly outbox: Pick<OutboxStore, "add" | "get" | "list"> };
  readonly outbox: { retry(seqs: readonly number[]): Promise<number[]>; wake(): void };
  readonly groups: { list(): readonly Group[] };
  readonly clock: Pick<Clock, "now">;
}

/** Characters of a text in a table. */
const shortChars = 60;
/** Maximum messages requeued by one command. */
const retriedAtOnce = 1_000;

/** A message of the outbox. */
const outboxView = z.strictObject({
  seq: z.number(),
  group: z.string(),
  channel: z.string(),
  chat: z.string(),
  kind: z.enum(outgoingKinds),
  text: z.string().describe("Shortened"),
  inReplyTo: list(z.string()),
  turn: z.string().optional(),
  agent: z.string().optional(),
  thread: z.string().optional(),
  file: z
    .strictObject({
      path: z.string(),
      name: z.string(),
      mimeType: z.string(),
      bytes: z.number(),
      voice: z.strictObject({ seconds: z.number().optional(), waveform: list(z.number()).optional() }).optional(),
    })
    .optional(),
  reaction: z.strictObject({ message: z.string(), sender: z.string(), emoji: z.string() }).optional(),
  elapsedMs: z.number().optional(),
  state: z.enum(outboxStates),
  attempts: z.number(),
  createdAt: time,
  retriedAt: time.optional(),
  acceptedAt: time.optional(),
  error: z.string().optional(),
  quote: z.strictObject({ id: z.string(), sender: z.string(), text: z.string() }).optional(),
  pruned: z.boolean().optional(),
});

export type OutboxView = z.infer<typeof outboxView>;

export const listOutbox = defineOperation<{ readonly store: { readonly outbox: Pick<OutboxStore, "list"> } }>()({
  name: "outbox.list",
  summary: "list outgoing messages, newest first",
  input: z.strictObject({
    group: onlyGroup,
    state: z.enum(outboxStates).optional().describe("only in this state"),
    limit: limit(20),
  }),
  output: list(outboxView),
  may: { scope: "read" },
  effect: "none",
  rest: "GET /outbox",
  listAs: "messages",
  offline: true,
  cli: {
    table: [
      "seq",
      "group",
      "channel",
      "kind",
      "state",
      "attempts",
      { field: "createdAt", title: "written (UTC)" },
      { field: "error", title: "reason" },
      { title: "text", of: (message) => shorten(contentOf(message), shortChars) },
    ],
    none: () => "No such messages.",
  },
  run: async ({ store }, filter) => (await store.outbox.list(filter)).map(view),
});

export const send = defineOperation<OutboxNeeds>()({
  name: "send",
  summary: "say something in a group's chat as the host; the agent is not told",
  input: z.strictObject({
    group: name,
    text: z.string().max(16_000).regex(/\S/, "there is nothing to say in it"),
  }),
  output: outboxView.extend({ id: z.number().describe("The same as `seq`") }),
  may: { scope: "admin" },
  effect: "change",
  cli: { args: ["group", "text"], say: ({ seq, group }) => `Queued as message ${seq} for group ${group}.` },
  run: async ({ store, outbox, groups, clock }, { group: wanted, text }) => {
    const { name: group, channel, chat } = requireGroup(groups.list(), wanted);
    const draft = { group, channel, chat, kind: "notice", text, inReplyTo: [], turn: undefined } as const;
    const row = await store.outbox.add(draft, clock.now());
    outbox.wake();
    return { id: row.seq, ...view(row) };
  },
});

export const retryOutbox = defineOperation<OutboxNeeds>()({
  name: "outbox.retry",
  summary: "put a given up or uncertain message, or all that were given up, back in line",
  input: z
    .strictObject({
      seq: z
        .union([
          z.number(),
          z
            .string()
            .regex(/^[1-9]\d{0,14}$/, "it is not the number of a message")
            .transform(Number),
        ])
        .pipe(z.number().int().min(1).max(Number.MAX_SAFE_INTEGER))
        .optional(),
      allDead: flag.describe("all messages that were given up"),
    })
    .refine(({ seq, allDead }) => allDead === (seq === undefined), "Give the number of a message, or --all-dead"),
  output: z.strictObject({ retried: list(z.number()) }),
  may: { scope: "admin" },
  effect: "change",
  cli: {
    args: ["seq"],
    say: ({ retried: { length } }) => `${length} ${length === 1 ? "message is" : "messages are"} queued again.`,
  },
  run: async ({ store, outbox }, { seq }) => {
    if (seq === undefined) {
      const dead = await store.outbox.list({ state: "dead", limit: retriedAtOnce });
      return { retried: await outbox.retry(dead.map((message) => message.seq)) };
    }
    requireRetryable(seq, await store.outbox.get(seq));
    return { retried: await outbox.retry([seq]) };
  },
});

function requireRetryable(seq: number, row: OutgoingMessage | undefined): void {
  const fix = `See \`${ownCommand("outbox list")}\`.`;
  if (!row) throw new AppError("not_found", `There is no message ${seq} in the outbox.`, { fix });
  if (row.pruned === true) {
    throw new AppError("conflict", `The text of message ${seq} is no longer kept, so it cannot be sent again.`);
  }
  if (row.state === "dead" || row.state === "uncertain") return;
  throw new AppError("conflict", `Message ${seq} is ${row.state}; only a dead or uncertain one can be retried.`, {
    fix,
  });
}

function view(row: OutgoingMessage): OutboxView {
  return { ...row, text: shorten(row.text, listedChars) };
}

function contentOf({ text, file, reaction, pruned }: OutboxView): string {
  if (pruned === true) return "(no longer kept)";
  if (reaction) return `[reaction: ${reaction.emoji}]`;
  return file ? `[file: ${file.name}] ${text}` : text;
}

/** Operations on outgoing messages. */
export const outboxOperations = [listOutbox, retryOutbox] as const;
