import type { Group } from "../domain/group.ts";
import type { OutgoingMessage } from "../domain/message.ts";
import { AppError } from "../lib/app-error.ts";
import type { Clock } from "../lib/time/clock.ts";
import { shorten } from "../lib/text/visible.ts";
import type { OutboxStore } from "../stores/store.ts";
import type { Operations, OutboxView } from "./operations.ts";
import { ownCommand } from "../lib/process/own-command.ts";

export interface OutboxOperationOptions {
  readonly store: { readonly outbox: Pick<OutboxStore, "add" | "get" | "list"> };
  readonly outbox: { retry(seqs: readonly number[]): Promise<number[]>; wake(): void };
  readonly clock: Pick<Clock, "now">;
}

const shownChars = 400;
/** As many as one command puts back in line; the next one takes the rest. */
const retriedAtOnce = 1_000;

export async function listOutbox(
  { store }: { readonly store: { readonly outbox: Pick<OutboxStore, "list"> } },
  filter: Parameters<Operations["listOutbox"]>[0],
): Promise<OutboxView[]> {
  return (await store.outbox.list(filter)).map(view);
}

/** Says something in a group's chat as the host. */
export async function send(
  { store, outbox, clock }: OutboxOperationOptions,
  { name: group, channel, chat }: Group,
  text: string,
): Promise<OutboxView> {
  const draft = { group, channel, chat, kind: "notice", text, inReplyTo: [], turn: undefined } as const;
  const row = await store.outbox.add(draft, clock.now());
  outbox.wake();
  return view(row);
}

export async function retryOutbox(
  { store, outbox }: OutboxOperationOptions,
  what: Parameters<Operations["retryOutbox"]>[0],
): Promise<readonly number[]> {
  if ("allDead" in what) {
    const dead = await store.outbox.list({ state: "dead", limit: retriedAtOnce });
    return outbox.retry(dead.map(({ seq }) => seq));
  }
  requireRetryable(what.seq, await store.outbox.get(what.seq));
  return outbox.retry([what.seq]);
}

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
