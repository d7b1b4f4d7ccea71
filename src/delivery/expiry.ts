import type { OutgoingKind, OutgoingMessage } from "../domain/chats/message.ts";

const hourMs = 3_600_000;

/** Lifetime of unsent messages, by kind. */
const lifetimeMs: Readonly<Record<OutgoingKind, number>> = {
  reply: 24 * hourMs,
  notice: 24 * hourMs,
};

/** Time of expiry. A message that the operator requeued gets a new lifetime. */
export function expiresAt({ kind, createdAt, retriedAt }: OutgoingMessage): number {
  return (retriedAt ?? createdAt) + lifetimeMs[kind];
}
