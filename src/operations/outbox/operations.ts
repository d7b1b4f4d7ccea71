import * as z from "zod";

import type { Group } from "../../domain/chats/group.ts";
import { type OutgoingMessage, outboxStates, outgoingKinds } from "../../domain/chats/message.ts";
import { AppError } from "../../lib/app-error.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { shorten } from "../../lib/text/visible.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { OutboxStore } from "../../stores/contract/store.ts";
import { defineOperation } from "../define-operation.ts";
import { requireGroup } from "../require-group.ts";
import { limit, list, name, time } from "../schemas.ts";

/** The parts that send. */
export interface OutboxNeeds {
  readonly store: { readonly outbox: Pick<OutboxStore, "add" | "get" | "list"> };
  readonly outbox: { retry(seqs: readonly number[]): Promise<number[]>; wake(): void };
  readonly groups: { list(): readonly Group[] };
  readonly clock: Pick<Clock, "now">;
}

const shownChars = 400;
/** As many as one command puts back in line; the next one takes the rest. */
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
  input: z.strictObject({ state: z.enum(outboxStates).optional(), group: name.optional(), limit: limit(20) }),
  output: list(outboxView),
  scope: "read",
  effect: "none",
  rest: "GET /outbox",
  listAs: "messages",
  offline: true,
  run: async ({ store }, filter) => (await store.outbox.list(filter)).map(view),
});

export const send = defineOperation<OutboxNeeds>()({
  name: "send",
  summary: "say something in a group's chat as the host; the agent is not told",
  input: z.strictObject({
    group: name,
    text: z.string().max(16_000).regex(/\S/, "there is nothing to say in it"),
  }),
  output: outboxView,
  scope: "admin",
  effect: "change",
  run: async ({ store, outbox, groups, clock }, { group: wanted, text }) => {
    const { name: group, channel, chat } = requireGroup(groups.list(), wanted);
    const draft = { group, channel, chat, kind: "notice", text, inReplyTo: [], turn: undefined } as const;
    const row = await store.outbox.add(draft, clock.now());
    outbox.wake();
    return view(row);
  },
});

export const retryOutbox = defineOperation<OutboxNeeds>()({
  name: "outbox.retry",
  summary: "put a given up or uncertain message, or all that were given up, back in line",
  input: z.union([
    z.strictObject({ seq: z.number().int().min(1).max(Number.MAX_SAFE_INTEGER) }),
    z.strictObject({ allDead: z.literal(true) }),
  ]),
  output: z.strictObject({ retried: list(z.number()) }),
  scope: "admin",
  effect: "change",
  run: async ({ store, outbox }, what) => {
    if ("allDead" in what) {
      const dead = await store.outbox.list({ state: "dead", limit: retriedAtOnce });
      return { retried: await outbox.retry(dead.map(({ seq }) => seq)) };
    }
    requireRetryable(what.seq, await store.outbox.get(what.seq));
    return { retried: await outbox.retry([what.seq]) };
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
  return { ...row, text: shorten(row.text, shownChars) };
}
