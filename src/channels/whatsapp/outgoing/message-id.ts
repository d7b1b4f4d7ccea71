import { createHash } from "node:crypto";

import { LRUCache } from "lru-cache";

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
/** Parts of an older message by which it is recognized. */
const mostParts = 4;
const rememberedIds = 4_000;

/** Finds the outbox message that one of our messages in a chat is, or is a part of; undefined when not known. */
export type SeqOf = (chat: string, id: string) => Promise<number | undefined>;

/** Knows what was sent of late, and what is older as long as the host has it: its id follows from its number. */
export function createSeqOf(options: {
  readonly instance: string;
  readonly sent: Pick<Sent, "seqOf">;
  readonly outgoing: Pick<OutgoingMessages, "sentTo">;
}): SeqOf {
  const { instance, sent, outgoing } = options;
  const computed = new LRUCache<number, readonly string[]>({
    max: rememberedIds,
    memoMethod: (seq) => Array.from({ length: mostParts }, (_, part) => messageId(instance, seq, part)),
  });
  return async (chat, id) => {
    const known = sent.seqOf(id);
    if (known !== undefined || !ownId.test(id)) return known;
    return (await outgoing.sentTo(chat)).find((seq) => computed.memo(seq).includes(id));
  };
}
