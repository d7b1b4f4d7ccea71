import type { Receipt, RefusalCode } from "../channels/channel.ts";
import type { Group } from "../domain/group.ts";
import type { IncomingMessage, MessageState, OutgoingDraft } from "../domain/message.ts";
import type { Clock } from "../lib/clock.ts";
import { quotedName } from "../lib/plain-words.ts";
import type { Store } from "../stores/store.ts";
import type { RouterLimits } from "./limits.ts";
import { SenderRate } from "./sender-rate.ts";
import { WaitingBound } from "./waiting-bound.ts";

interface Refusal {
  readonly code: RefusalCode;
  readonly reason: string;
  readonly retryAfterS: number;
  /** Told once in the chat for as long as it lasts; undefined when it has been. */
  readonly news: { readonly text: string; readonly limit: string; readonly allowed: number } | undefined;
}

interface LimitParts {
  readonly store: { readonly messages: Pick<Store["messages"], "isKnown" | "waitingCount" | "waitingTotal"> };
  readonly limits: RouterLimits;
  readonly clock: Clock;
  readonly audit: (record: {
    readonly type: "limit-hit";
    readonly group: string;
    readonly actor: string;
    readonly data: Readonly<Record<string, string | number>>;
  }) => Promise<void>;
  readonly notify: (draft: OutgoingDraft) => Promise<void>;
}

/**
 * How much is taken in: so many messages a minute of one sender in a group, so many that wait in a group, so many that wait
 * in all. What is refused was not acknowledged, so its sender still has it; the chat is told once per flood.
 */
export class IntakeLimits {
  readonly #parts: LimitParts;
  readonly #rate: SenderRate;
  readonly #toldGroups = new Set<string>();
  readonly #waiting = new WaitingBound();
  readonly #waitingIn = new Map<string, WaitingBound>();

  constructor(parts: LimitParts) {
    this.#parts = parts;
    this.#rate = new SenderRate(parts.limits.perSenderPerMinute, parts.clock);
  }

  /** Why this message cannot be taken now; undefined when it can. One that is stored already is never refused. */
  async refusal(group: Group, message: IncomingMessage, state: MessageState): Promise<Receipt | undefined> {
    const refusal = this.#tooFast(group, message) ?? (state === "waiting" ? await this.#tooMany(group) : undefined);
    if (!refusal) return undefined;
    if (await this.#parts.store.messages.isKnown(message)) return { outcome: "stored", duplicate: true };
    const { code, reason, retryAfterS, news } = refusal;
    if (news) await this.#tell(group, message, news);
    return { outcome: "refused", code, reason, retryAfterS, stopped: false };
  }

  /** The message was new and is stored. */
  taken(group: Group, message: IncomingMessage, state: MessageState): void {
    this.#rate.count(keyOf(group, message));
    if (state !== "waiting") return;
    this.#waiting.add();
    this.#boundOf(group).add();
  }

  #tooFast(group: Group, message: IncomingMessage): Refusal | undefined {
    const { perSenderPerMinute: allowed } = this.#parts.limits;
    const waitS = this.#rate.waitS(keyOf(group, message));
    if (waitS === 0) return undefined;
    const text = `${quotedName(message.sender.name)} writes more than ${allowed} messages a minute here. What is beyond that is not taken.`;
    const news = this.#rate.isNews(keyOf(group, message)) ? { text, limit: "messages-per-sender", allowed } : undefined;
    const reason = `more than ${allowed} messages a minute of one sender`;
    return { code: "sender-rate", reason, retryAfterS: Math.max(1, Math.ceil(waitS)), news };
  }

  async #tooMany(group: Group): Promise<Refusal | undefined> {
    const { waitingPerGroup, waitingTotal, retryAfterS } = this.#parts.limits;
    const { messages } = this.#parts.store;
    if (await this.#boundOf(group).isReached(waitingPerGroup, () => messages.waitingCount(group))) {
      const text = `${waitingPerGroup} messages are waiting for an answer here. Until that number has gone down, further ones are not taken.`;
      const news = this.#isNews(group) ? { text, limit: "waiting-messages", allowed: waitingPerGroup } : undefined;
      const reason = `${waitingPerGroup} messages of this group wait for an answer already`;
      return { code: "queue-full", reason, retryAfterS, news };
    }
    if (await this.#waiting.isReached(waitingTotal, () => messages.waitingTotal(waitingTotal))) {
      const text = `Too many messages are waiting for an answer, in all groups together. Until that number has gone down, further ones are not taken.`;
      const news = this.#isNews(group) ? { text, limit: "waiting-total", allowed: waitingTotal } : undefined;
      const reason = `${waitingTotal} messages of all groups wait for an answer already`;
      return { code: "all-queues-full", reason, retryAfterS, news };
    }
    this.#toldGroups.delete(group.name);
    return undefined;
  }

  #boundOf({ name }: Group): WaitingBound {
    const bound = this.#waitingIn.get(name) ?? new WaitingBound();
    this.#waitingIn.set(name, bound);
    return bound;
  }

  #isNews(group: Group): boolean {
    if (this.#toldGroups.has(group.name)) return false;
    this.#toldGroups.add(group.name);
    return true;
  }

  async #tell(group: Group, message: IncomingMessage, news: NonNullable<Refusal["news"]>): Promise<void> {
    const { text, limit, allowed } = news;
    const data = { limit, allowed, channel: message.channel, chat: message.chat };
    await this.#parts.audit({ type: "limit-hit", group: group.name, actor: message.sender.id, data });
    const chat = { group: group.name, channel: group.channel, chat: group.chat };
    await this.#parts.notify({ ...chat, kind: "notice", text, inReplyTo: [], turn: undefined });
  }
}

function keyOf(group: Group, message: IncomingMessage): string {
  return JSON.stringify([group.name, message.sender.id]);
}
