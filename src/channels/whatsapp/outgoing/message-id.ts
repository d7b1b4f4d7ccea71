import { createHash } from "node:crypto";

import type { OutgoingMessages } from "../../define-channel.ts";
import type { Sent } from "./sent.ts";

/** Returns an id in the form of WhatsApp's own clients. */
export function idFrom(hex: string): string {
  return `3EB0${hex.slice(0, 18).toUpperCase()}`;
}

/** The same for every attempt, so that members see a message once. */
export function messageId(instance: string, seq: number, part: number): string {
  return idFrom(createHash("sha256").update(`${instance}/${seq}/${part}`).digest("hex"));
}

const ownId = /^3EB0[0-9A-F]{18}$/;
/** Maximum parts of a question: questions are short. */
const mostParts = 4;

/** Finds the outbox message that one of our messages is, or is a part of; undefined when no longer known. */
export type SeqOf = (id: string) => Promise<number | undefined>;

/**
 * Knows what was sent of late, and what is older for as long as people may still answer it: its id follows from its
 * number.
 */
export function createSeqOf(options: {
  readonly instance: string;
  readonly sent: Pick<Sent, "seqOf">;
  readonly outgoing: Pick<OutgoingMessages, "awaited">;
}): SeqOf {
  const { instance, sent, outgoing } = options;
  return async (id) => {
    const known = sent.seqOf(id);
    if (known !== undefined || !ownId.test(id)) return known;
    const parts = Array.from({ length: mostParts }, (_, part) => part);
    const awaited = await outgoing.awaited();
    return awaited.find((seq) => parts.some((part) => messageId(instance, seq, part) === id));
  };
}
