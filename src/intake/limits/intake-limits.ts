import type { Receipt, RefusalCode } from "../../channels/channel.ts";
import { memberActor } from "../../domain/people/actor.ts";
import type { Group } from "../../domain/chats/group.ts";
import type { Publish } from "../../domain/events/event.ts";
import type { IncomingMessage, MessageState, OutgoingDraft } from "../../domain/chats/message.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { quotedName } from "../../lib/text/plain-words.ts";
import type { Store } from "../../stores/contract/store.ts";
import { secondsLeftInUtcDay } from "../../lib/time/utc-day.ts";
import { DayBudgets, type MessageReservation, type UsedUp } from "./day-budgets.ts";
import type { DayBudget, RouterLimits } from "./limits.ts";
import { SenderRate } from "./sender-rate.ts";
import { mebibyte } from "../../lib/text/bytes.ts";

const limitNames = { messages: "messages", bytes: "megabytes", attachmentBytes: "attachment-megabytes" } as const;

interface Refusal {
  readonly code: RefusalCode;
  readonly reason: string;
  readonly retryAfterS: number;
  readonly lasting?: boolean;
  /** Told once in the chat for as long as it lasts; undefined when it has been. */
  readonly news: News | undefined;
}

interface News {
  readonly text: string;
  readonly limit: string;
  readonly allowed: number;
}

/** A message may be stored with this charge, or why not. */
export type IntakeDecision = MessageReservation | { readonly granted: false; readonly receipt: Receipt };

interface LimitOptions {
  readonly store: {
    readonly messages: Pick<Store["messages"], "isKnown" | "waitingCount" | "waitingTotal">;
    readonly intake: Pick<Store["intake"], "ofDay" | "tell">;
  };
  readonly limits: RouterLimits;
  readonly clock: Clock;
  readonly publish: Publish<"limit.reached">;
  readonly notify: (draft: OutgoingDraft) => Promise<void>;
}

/**
 * Limits of intake: messages per minute of a sender in a group, daily budgets of group and member, messages waiting in
 * a group and in all. A refused message is not acknowledged, so its sender still has it; the chat is told once per
 * flood, or once a day for a daily limit.
 */
export class IntakeLimits {
  readonly #options: LimitOptions;
  readonly #rate: SenderRate;
  readonly #days: DayBudgets;
  readonly #toldGroups = new Set<string>();
  readonly #waiting = new WaitingBound();
  readonly #waitingIn = new Map<string, WaitingBound>();

  constructor(options: LimitOptions) {
    this.#options = options;
    const budgets = () => ({ group: options.limits.perGroupPerDay, member: options.limits.perMemberPerDay });
    this.#rate = new SenderRate(() => options.limits.perSenderPerMinute, options.clock);
    this.#days = new DayBudgets(options.store.intake, budgets, options.clock);
  }

  /** Whether this message can be taken now. One that is stored already is never refused. */
  async reserve(group: Group, message: IncomingMessage, state: MessageState): Promise<IntakeDecision> {
    const now = this.#tooFast(group, message) ?? (state === "waiting" ? await this.#tooMany(group) : undefined);
    if (now) return this.#refuse(group, message, () => now);
    const reserved = await this.#days.reserve(group, message, state === "handled");
    if (!reserved.granted) return this.#refuse(group, message, () => this.#usedUp(message, reserved));
    const { day, filesLimitedBy: account } = reserved;
    if (account && (await this.#options.store.intake.tell(day, account, "files"))) {
      await this.#tell(group, message, this.#dayNews(message, account, "attachmentBytes"));
    }
    return reserved;
  }

  async #refuse(
    group: Group,
    message: IncomingMessage,
    why: () => Refusal | Promise<Refusal>,
  ): Promise<{ readonly granted: false; readonly receipt: Receipt }> {
    if (await this.#options.store.messages.isKnown(message)) {
      return { granted: false, receipt: { outcome: "stored", duplicate: true } };
    }
    const { code, reason, retryAfterS, lasting, news } = await why();
    if (news) await this.#tell(group, message, news);
    return { granted: false, receipt: { outcome: "refused", code, reason, retryAfterS, lasting, stopped: false } };
  }

  /** The message was new and is stored. */
  taken(group: Group, message: IncomingMessage, state: MessageState): void {
    this.#rate.count(keyOf(group, message));
    if (state !== "waiting") return;
    this.#waiting.add();
    this.#boundOf(group).add();
  }

  #tooFast(group: Group, message: IncomingMessage): Refusal | undefined {
    const { perSenderPerMinute: allowed } = this.#options.limits;
    const waitS = this.#rate.waitS(keyOf(group, message));
    if (waitS === 0) return undefined;
    const text = `${quotedName(message.sender.name)} writes more than ${allowed} messages a minute here. Extra messages are rejected.`;
    const news = this.#rate.isNews(keyOf(group, message)) ? { text, limit: "messages-per-sender", allowed } : undefined;
    const reason = `more than ${allowed} messages a minute from one sender`;
    return { code: "sender-rate", reason, retryAfterS: Math.max(1, Math.ceil(waitS)), news };
  }

  async #tooMany(group: Group): Promise<Refusal | undefined> {
    const { waitingPerGroup, waitingTotal, retryAfterS } = this.#options.limits;
    const { messages } = this.#options.store;
    if (await this.#boundOf(group).isReached(waitingPerGroup, () => messages.waitingCount(group))) {
      const text = `${waitingPerGroup} messages are waiting for an answer here. New messages are rejected until the backlog clears.`;
      const news = this.#isNews(group) ? { text, limit: "waiting-messages", allowed: waitingPerGroup } : undefined;
      const reason = `${waitingPerGroup} messages of this group are already waiting for an answer`;
      return { code: "queue-full", reason, retryAfterS, news };
    }
    if (await this.#waiting.isReached(waitingTotal, () => messages.waitingTotal(waitingTotal))) {
      const text = `Too many messages are waiting for an answer, in all groups together. New messages are rejected until the backlog clears.`;
      const news = this.#isNews(group) ? { text, limit: "waiting-total", allowed: waitingTotal } : undefined;
      const reason = `${waitingTotal} messages of all groups are already waiting for an answer`;
      return { code: "all-queues-full", reason, retryAfterS, news };
    }
    this.#toldGroups.delete(group.name);
    return undefined;
  }

  /** Refuses senders with an exhausted budget until the day ends. */
  async #usedUp(message: IncomingMessage, { day, account, what }: UsedUp): Promise<Refusal> {
    const now = this.#options.clock.now();
    const isNews = await this.#options.store.intake.tell(day, account, "messages");
    const news = this.#dayNews(message, account, what);
    const key = account.kind === "group" ? "intake.perGroupPerDay" : "intake.perMemberPerDay";
    return {
      code: "daily-limit",
      reason: `this ${account.kind} has reached its limit for today, UTC (${what === "bytes" ? "megabytes" : what} of ${key})`,
      retryAfterS: secondsLeftInUtcDay(now),
      lasting: true,
      news: isNews ? news : undefined,
    };
  }

  #dayNews({ sender }: IncomingMessage, { kind }: UsedUp["account"], what: keyof DayBudget): News {
    const isGroup = kind === "group";
    const { perGroupPerDay, perMemberPerDay } = this.#options.limits;
    const budget = isGroup ? perGroupPerDay : perMemberPerDay;
    const who = isGroup ? "This group" : quotedName(sender.name);
    const limit = `${limitNames[what]}-per-${isGroup ? "group" : "member"}-per-day`;
    const allowed = what === "messages" ? budget.messages : Math.round((budget.bytes / mebibyte) * 1000) / 1000;
    if (what === "attachmentBytes") {
      const megabytes = budget.attachmentBytes / mebibyte;
      const text = `${who} has reached today's limit for files (${megabytes} MB per ${isGroup ? "group" : "member"}). Until 00:00 UTC I get messages without their files.`;
      return { text, limit, allowed: megabytes };
    }
    const much = what === "messages" ? `many messages today as one` : `much text today as one`;
    const amount = what === "messages" ? allowed.toLocaleString("en-US") : `${allowed} MB`;
    const more = isGroup ? "Messages here" : "Further ones";
    const text = `${who} has sent as ${much} ${isGroup ? "group" : "member"} may (${amount}). ${more} are rejected until 00:00 UTC; /stop, /new and /status still work.`;
    return { text, limit, allowed };
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

  async #tell(group: Group, message: IncomingMessage, news: News): Promise<void> {
    const { text, limit, allowed } = news;
    const data = { limit, allowed, channel: message.channel, chat: message.chat };
    await this.#options.publish({
      type: "limit.reached",
      group: group.name,
      actor: memberActor(message.sender.id),
      data,
    });
    const chat = { group: group.name, channel: group.channel, chat: group.chat };
    await this.#options.notify({ ...chat, kind: "notice", text, inReplyTo: [], turn: undefined });
  }
}

/**
 * Upper bound of waiting messages that avoids counting: it adds arrivals until the limit may be reached. The real
 * number is often lower, as turns take messages without notice.
 */
class WaitingBound {
  #atMost = Number.POSITIVE_INFINITY;

  /** One more waits. */
  add(): void {
    this.#atMost += 1;
  }

  /** True when the limit is reached. Counts only when it may be. */
  async isReached(allowed: number, count: () => Promise<number>): Promise<boolean> {
    if (this.#atMost >= allowed) this.#atMost = await count();
    return this.#atMost >= allowed;
  }
}

function keyOf(group: Group, message: IncomingMessage): string {
  return JSON.stringify([group.name, message.sender.id]);
}
