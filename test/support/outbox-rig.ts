import pino from "pino";

import { Outbox, type OutboxOptions } from "../../src/delivery/outbox.ts";
import type { OutboxState } from "../../src/domain/chats/message.ts";
import type { Store } from "../../src/stores/contract/store.ts";
import { FakeChannel } from "../fakes/fake-channel.ts";
import { openTestStore } from "./open-test-store.ts";

/** An outbox over a real store, with one channel whose name is `fake`. */
export interface OutboxRig extends AsyncDisposable {
  readonly store: Store;
  readonly channel: FakeChannel;
  readonly outbox: Outbox;
  readonly delays: number[];
  readonly outcomes: string[];
  /** Another outbox over the same store, as after a restart. */
  restart(): Outbox;
}

export async function openOutboxRig(
  more: Partial<OutboxOptions> = {},
  channel: FakeChannel = new FakeChannel(),
): Promise<OutboxRig> {
  const opened = await openTestStore();
  const { store } = opened;
  const [delays, outcomes]: [number[], string[]] = [[], []];
  const open = (): Outbox =>
    new Outbox({
      store: store.outbox,
      channelOf: (name) => (name === "fake" ? channel : undefined),
      publish: async ({ data }) => {
        outcomes.push(data.outcome);
      },
      logger: pino({ level: "silent" }),
      clock: { now: () => 2 },
      wait: async (delayMs) => {
        delays.push(delayMs);
      },
      random: () => 1,
      ...more,
    });
  const outbox = open();
  const events = { changed: () => undefined, delivered: (seq: number) => outbox.confirm("fake", seq) };
  await channel.start(async () => ({ outcome: "unknown-chat" }), events);
  return {
    store,
    channel,
    outbox,
    delays,
    outcomes,
    restart: open,
    async [Symbol.asyncDispose]() {
      await outbox[Symbol.asyncDispose]();
      await opened[Symbol.asyncDispose]();
    },
  };
}

/** Writes a reply into the outbox and returns its number. */
export async function add(
  store: Store,
  text: string,
  chat = "family",
  { channel = "fake", at = 1 }: { channel?: string; at?: number } = {},
): Promise<number> {
  const draft = { group: chat, channel, chat, kind: "reply", text, inReplyTo: [], turn: undefined } as const;
  return (await store.outbox.add(draft, at)).seq;
}

/** The states of all rows of a channel, in order. */
export async function states(store: Store, channel = "fake"): Promise<OutboxState[]> {
  return (await store.outbox.ofChannel(channel, 0, 1_000)).map(({ state }) => state);
}
