import { LRUCache } from "lru-cache";

import type { Group } from "../../domain/chats/group.ts";
import type { IncomingMessage } from "../../domain/chats/message.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { utcDay } from "../../lib/time/utc-day.ts";
import type { MessageStore, Store } from "../../stores/contract/store.ts";
import type { DayBudget } from "./limits.ts";

type Charge = NonNullable<Parameters<MessageStore["insert"]>[1]["charge"]>;
export type ChargedAccount = Charge["accounts"][number];
type Amount = Charge["amount"];
type Used = { -readonly [Key in keyof Amount]: Amount[Key] };

/** A budget that has nothing left for this message. */
export interface UsedUp {
  readonly granted: false;
  readonly day: string;
  readonly account: ChargedAccount;
  readonly what: "messages" | "bytes";
}

/** Room for one message, kept until it is stored or given back. */
export interface MessageReservation {
  readonly granted: true;
  readonly day: string;
  /** Bytes of files that may be fetched for it. */
  readonly fileRoom: number;
  /** Budget that limits the files to less than announced. */
  readonly filesLimitedBy: ChargedAccount | undefined;
  /** Charges the stored message with this number of file bytes. */
  charge(fileBytes: number): Charge;
  /** The message was not stored, or was there already. */
  giveBack(): void;
}

/** Accounts that are remembered; those that are not are asked for in the store again. */
const rememberedAccounts = 20_000;
/** Above the limits there is room for chat commands, which are short: who has to stop an agent can. */
const forCommands = { group: 1_000, member: 100, bytes: 1024 * 1024 } as const;
/** Assumed maximum for a file of unknown size. */
const unknownFileBytes = 64 * 1024 * 1024;
const fileNameChars = 256;

/**
 * Daily budgets (UTC) of groups, and of members over all groups of a channel. Sums are kept in memory, read from the
 * store on first use and written with each message, so that a restart changes nothing.
 */
export class DayBudgets {
  readonly #store: Pick<Store["intake"], "ofDay">;
  readonly #budgets: () => { readonly group: DayBudget; readonly member: DayBudget };
  readonly #clock: Pick<Clock, "now">;
  readonly #used = new LRUCache<string, Promise<Used>>({ max: rememberedAccounts });
  #day = "";

  constructor(
    store: Pick<Store["intake"], "ofDay">,
    budgets: () => { readonly group: DayBudget; readonly member: DayBudget },
    clock: Pick<Clock, "now">,
  ) {
    this.#store = store;
    this.#budgets = budgets;
    this.#clock = clock;
  }

  async reserve(group: Group, message: IncomingMessage, isCommand: boolean): Promise<MessageReservation | UsedUp> {
    const day = utcDay(this.#clock.now());
    const accounts = [
      { kind: "group", name: group.name },
      { kind: "member", name: JSON.stringify([message.channel, message.sender.id]) },
    ] as const;
    const amount = { messages: 1, bytes: storedBytes(message), attachmentBytes: 0 };
    const states = await Promise.all(
      accounts.map(async (account) => ({
        account,
        used: await this.#usedBy(day, account),
        allowed: this.#budgets()[account.kind],
        more: isCommand ? { messages: forCommands[account.kind], bytes: forCommands.bytes } : noMore,
      })),
    );
    // From here to the end nothing is waited for: what is seen to be there is taken at once.
    for (const state of states) {
      const what = exceeded(state, amount);
      if (what !== undefined) return { granted: false, day, account: state.account, what };
    }
    const wanted = isCommand ? 0 : expectedFileBytes(message);
    const left = states.map(({ account, used: { attachmentBytes }, allowed }) => ({
      account,
      bytes: Math.max(0, allowed.attachmentBytes - attachmentBytes),
    }));
    const tightest = left.reduce((one, other) => (other.bytes < one.bytes ? other : one));
    const fileRoom = Math.min(wanted, tightest.bytes);
    let held = { ...amount, attachmentBytes: fileRoom };
    for (const { used } of states) add(used, held, 1);
    return {
      granted: true,
      day,
      fileRoom,
      filesLimitedBy: wanted > 0 && isShort(message, tightest.bytes) ? tightest.account : undefined,
      charge: (fileBytes) => {
        for (const { used } of states) add(used, held, -1);
        held = { ...amount, attachmentBytes: fileBytes };
        for (const { used } of states) add(used, held, 1);
        return { day, accounts, amount: held };
      },
      giveBack: () => {
        for (const { used } of states) add(used, held, -1);
      },
    };
  }

  #usedBy(day: string, account: ChargedAccount): Promise<Used> {
    if (day !== this.#day) this.#used.clear();
    this.#day = day;
    const key = `${account.kind} ${account.name}`;
    const known = this.#used.get(key);
    if (known) return known;
    const used = this.#load(day, account, key);
    this.#used.set(key, used);
    return used;
  }

  async #load(day: string, account: ChargedAccount, key: string): Promise<Used> {
    try {
      return { ...(await this.#store.ofDay(day, account)) };
    } catch (error) {
      this.#used.delete(key);
      throw error;
    }
  }
}

const noMore = { messages: 0, bytes: 0 } as const;

function add(used: Used, { messages, bytes, attachmentBytes }: Amount, times: 1 | -1): void {
  used.messages += times * messages;
  used.bytes += times * bytes;
  used.attachmentBytes += times * attachmentBytes;
}

function exceeded(
  state: {
    readonly used: Amount;
    readonly allowed: DayBudget;
    readonly more: { readonly messages: number; readonly bytes: number };
  },
  amount: Amount,
): "messages" | "bytes" | undefined {
  const { used, allowed, more } = state;
  if (used.messages + amount.messages > allowed.messages + more.messages) return "messages";
  return used.bytes + amount.bytes > allowed.bytes + more.bytes ? "bytes" : undefined;
}

/** UTF-8 of all that its sender decides and the store keeps. */
function storedBytes({ text, chat, id, sender, quote, thread, attachments = [] }: IncomingMessage): number {
  const names = attachments.map(({ name = "" }) => name.slice(0, fileNameChars));
  const parts = [text, chat, id, thread, sender.id, sender.name, quote?.id, quote?.author, quote?.text, ...names];
  return parts.reduce((sum, part = "") => sum + Buffer.byteLength(part), 0);
}

/** True when there is less room than the files' announced sizes. */
function isShort({ attachments = [] }: IncomingMessage, room: number): boolean {
  return room === 0 || attachments.reduce((sum, { bytes = 0 }) => sum + bytes, 0) > room;
}

function expectedFileBytes({ attachments = [] }: IncomingMessage): number {
  return attachments.reduce((sum, { bytes = unknownFileBytes }) => sum + bytes, 0);
}
