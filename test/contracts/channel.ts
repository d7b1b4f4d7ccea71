import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";

import { expect, test } from "vitest";

import type { AcceptMessage, Channel, Receipt } from "../../src/channels/channel.ts";
import type { IncomingMessage, OutgoingMessage } from "../../src/domain/message.ts";

/** Something that a member says, as the other side of a channel sends it. */
interface Spoken {
  readonly group: string;
  readonly member: string;
  readonly text: string;
  /** Channels whose peers number their messages use it. */
  readonly id: string;
}

/** Somebody at the other end of the channel under test. */
export interface Rig extends AsyncDisposable {
  readonly channel: Channel;
  /** Sends these one after another and resolves when the channel has told the peer about the last one: received, or not. */
  say(spoken: readonly Spoken[]): Promise<readonly boolean[]>;
  /** Puts a reply where the peer can find it, if that is not `send` alone. */
  offer?(message: OutgoingMessage): void;
  /** Texts that the peer has got, in order. */
  heard(): Promise<readonly string[]>;
}

export interface ChannelTraits {
  /** The peer numbers its messages and may send one again. */
  readonly numbered: boolean;
}

/** What every channel promises to the rest of the host. */
export function testChannel(openRig: () => Promise<Rig>, traits: ChannelTraits): void {
  test("a peer is told that its message was received only after the message was stored", async () => {
    await using rig = await openRig();
    const events: string[] = [];
    await rig.channel.start(async () => {
      for (let turn = 0; turn < 500; turn += 1) await setImmediate();
      events.push("stored");
      return { outcome: "stored", duplicate: false };
    });

    const told = await rig.say([spoken("hello")]);
    events.push("told");

    expect(told).toEqual([true]);
    expect(events).toEqual(["stored", "told"]);
  });

  test("a message is handed over as it was said", async () => {
    await using rig = await openRig();
    const accepted = await collect(rig.channel);

    await rig.say([{ ...spoken("grüße, 漢字 & <b> 🦀"), group: "family", member: "anna" }]);

    const { channel, chat, sender, text } = accepted[0] ?? {};
    expect({ channel, chat, sender, text }).toEqual({
      channel: rig.channel.name,
      chat: "family",
      sender: { id: "anna", name: "anna" },
      text: "grüße, 漢字 & <b> 🦀",
    });
  });

  test("messages are handed over in the order in which they were said, each under an id of its own", async () => {
    await using rig = await openRig();
    const accepted = await collect(rig.channel);
    const texts = Array.from({ length: 50 }, (_, index) => `text ${index}`);

    await rig.say(texts.map((text) => spoken(text)));

    expect(accepted.map(({ text }) => text)).toEqual(texts);
    expect(new Set(accepted.map(({ id }) => id)).size).toBe(50);
  });

  test("a peer is not told that a message was received which the host refused", async () => {
    await using rig = await openRig();
    const refusal: Receipt = { outcome: "refused", reason: "no", retryAfterS: 0, stopped: false };
    await rig.channel.start(async ({ text }) => (text === "bad" ? refusal : { outcome: "unknown-chat" }));

    const told = await rig.say([spoken("bad"), spoken("lost")]);

    expect(told).toEqual([false, false]);
  });

  test.runIf(traits.numbered)("a message that a peer sends again is handed over under the same id", async () => {
    await using rig = await openRig();
    const accepted = await collect(rig.channel);
    const again = spoken("once more");

    const told = await rig.say([again, again]);

    expect(told).toEqual([true, true]);
    expect(accepted.map(({ id }) => id)).toEqual([again.id, again.id]);
  });

  test("replies arrive once each and in order, also when one is sent again", async () => {
    await using rig = await openRig();
    await collect(rig.channel);
    const replies = [reply(1, "one"), reply(2, "two"), reply(3, "three")];

    for (const message of [...replies.slice(0, 2), ...replies.slice(1)]) {
      rig.offer?.(message);
      await rig.channel.send(message, AbortSignal.timeout(10_000));
    }

    await expect.poll(() => rig.heard()).toEqual(["one", "two", "three"]);
  });

  test("its state is open while it runs and closed after its end, when nothing is taken in any more", async () => {
    await using rig = await openRig();
    const before = rig.channel.state().state;
    const accepted = await collect(rig.channel);
    const during = rig.channel.state().state;

    await rig.channel[Symbol.asyncDispose]();
    const told = await rig.say([spoken("too late")]);

    expect([before, during, rig.channel.state().state]).toEqual(["connecting", "open", "closed"]);
    expect(told).toEqual([false]);
    expect(accepted).toEqual([]);
  });

  test("its end waits for a message that is being stored, so that the store can be closed after it", async () => {
    await using rig = await openRig();
    const events: string[] = [];
    const begun = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    await rig.channel.start(async () => {
      begun.resolve();
      await gate.promise;
      events.push("stored");
      return { outcome: "stored", duplicate: false };
    });
    const saying = rig.say([spoken("just in time")]);
    await begun.promise;

    const ending = rig.channel[Symbol.asyncDispose]().then(() => events.push("ended"));
    for (let turn = 0; turn < 100; turn += 1) await setImmediate();
    gate.resolve();
    await Promise.all([ending, saying]);

    expect(events).toEqual(["stored", "ended"]);
  });
}

function spoken(text: string): Spoken {
  return { group: "main", member: "you", text, id: randomUUID() };
}

/** Starts the channel with a host that takes everything. */
async function collect(channel: Channel): Promise<IncomingMessage[]> {
  const accepted: IncomingMessage[] = [];
  const accept: AcceptMessage = async (message) => {
    accepted.push(message);
    return { outcome: "stored", duplicate: false };
  };
  await channel.start(accept);
  return accepted;
}

export function reply(seq: number, text: string, more: Partial<OutgoingMessage> = {}): OutgoingMessage {
  return {
    seq,
    group: "main",
    channel: "any",
    chat: "main",
    kind: "reply",
    text,
    inReplyTo: ["said-1"],
    turn: "turn-1",
    elapsedMs: 12.34,
    state: "sending",
    attempts: 1,
    createdAt: 0,
    ...more,
  };
}
