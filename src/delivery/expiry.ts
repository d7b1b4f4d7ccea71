import type { OutgoingKind, OutgoingMessage } from "../domain/chats/message.ts";

const hourMs = 3_600_000;

/** How long a message is worth sending, by kind. */
const lifetimeMs: Readonly<Record<OutgoingKind, number>> = {
  reply: 24 * hourMs,
  notice: 24 * hourMs,
};

/** From this moment on the message is not sent any more. One that the operator put back in line lives anew. */
export function expiresAt({ kind, createdAt, retriedAt }: OutgoingMessage): number {
  return (retriedAt ?? createdAt) + lifetimeMs[kind];
}
