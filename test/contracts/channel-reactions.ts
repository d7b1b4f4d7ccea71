import { setImmediate } from "node:timers/promises";

import { expect, test } from "vitest";

import type { AcceptMessage, TakeReaction } from "../../src/channels/channel.ts";
import type { IncomingMessage, IncomingReaction } from "../../src/domain/chats/message.ts";
import { type ChannelDriver, type ContractTraits, reply } from "./channel-setup.ts";

/** Contract of channels with the trait `hearsReactions`. */
export function testReactions(open: () => Promise<ChannelDriver>, traits: ContractTraits): void {
  test.runIf(traits.hearsReactions)(
    "a reaction to a message of the host's is handed over with its number, its emoji and who it is from",
    async () => {
      await using driver = await open();
      const reactions = await collectReactions(driver);
      await sendTwo(driver);

      await driver.react?.({ group: "main", member: "anna", seq: 2, emoji: "👍🏽", id: "r1" });
      await driver.react?.({ group: "main", member: "you", seq: 1, emoji: "👎", id: "r2" });
      await driver.react?.({ group: "main", member: "anna", seq: 2, emoji: "", id: "r3" });
      await expect.poll(() => reactions.length).toBe(3);

      const chat = driver.chat("main");
      const { name } = driver.channel;
      expect(reactions.map(({ id: _id, ...reaction }) => reaction)).toEqual([
        { channel: name, chat, sender: driver.sender("anna"), seq: 2, emoji: "👍🏽" },
        { channel: name, chat, sender: driver.sender("you"), seq: 1, emoji: "👎" },
        { channel: name, chat, sender: driver.sender("anna"), seq: 2, emoji: "" },
      ]);
      expect(new Set(reactions.map(({ id }) => id)).size).toBe(3);
      expect(reactions.messages).toEqual([]);
    },
  );

  test.runIf(traits.hearsReactions)(
    "a peer is told that its reaction was received only after the host has taken it",
    async () => {
      await using driver = await open();
      const events: string[] = [];
      const store = async (): Promise<void> => {
        for (let turn = 0; turn < 500; turn += 1) await setImmediate();
        events.push("stored");
      };
      await collectReactions(driver, async () => {
        if (!traits.keeps) await store();
        return { outcome: "stored", duplicate: false };
      });
      await sendTwo(driver);
      driver.beforeKept?.(store);

      const told = await driver.react?.({ group: "main", member: "anna", seq: 1, emoji: "👍", id: "r1" });
      events.push("told");

      expect(told).toBe(true);
      expect(events).toEqual(["stored", "told"]);
    },
  );

  test.runIf(traits.hearsReactions)("its end waits for a reaction that is being taken", async () => {
    await using driver = await open();
    const events: string[] = [];
    const begun = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    await collectReactions(driver, async () => {
      begun.resolve();
      await gate.promise;
      events.push("stored");
      return { outcome: "stored", duplicate: false };
    });
    await sendTwo(driver);
    const reacting = driver.react?.({ group: "main", member: "anna", seq: 1, emoji: "👍", id: "r1" });
    await begun.promise;

    const ending = driver.channel[Symbol.asyncDispose]().then(() => events.push("ended"));
    for (let turn = 0; turn < 100; turn += 1) await setImmediate();
    gate.resolve();
    await Promise.all([ending, reacting]);

    expect(events).toEqual(["stored", "ended"]);
  });
}

/** Two messages that can be reacted to. */
async function sendTwo(driver: ChannelDriver): Promise<void> {
  for (const seq of [1, 2]) {
    const message = reply(seq, `message ${seq}`, { chat: driver.chat("main") });
    driver.offer?.(message);
    await driver.channel.send(message, AbortSignal.timeout(120_000));
  }
  await expect.poll(() => driver.heard()).toEqual(["message 1", "message 2"]);
}

/** Starts the channel; what the host is told about reactions, and of messages beside them. */
async function collectReactions(
  driver: ChannelDriver,
  take: TakeReaction = async () => ({ outcome: "stored", duplicate: false }),
): Promise<IncomingReaction[] & { readonly messages: readonly IncomingMessage[] }> {
  const messages: IncomingMessage[] = [];
  const reactions: IncomingReaction[] = [];
  const accept: AcceptMessage = async (message) => {
    messages.push(message);
    return { outcome: "stored", duplicate: false };
  };
  await driver.channel.start(accept, {
    changed: () => undefined,
    delivered: () => undefined,
    reacted: (reaction) => {
      reactions.push(reaction);
      return take(reaction);
    },
  });
  await expect.poll(() => driver.channel.state().state).toBe("open");
  return Object.assign(reactions, { messages });
}
