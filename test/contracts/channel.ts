import { setImmediate } from "node:timers/promises";

import { expect, test } from "vitest";

import type { Receipt } from "../../src/channels/channel.ts";
import type { IncomingMessage } from "../../src/domain/chats/message.ts";
import { testReactions } from "./channel-reactions.ts";
import { testVoice } from "./channel-voice.ts";
import { type ChannelDriver, collect, type ContractTraits, reply, spoken, start } from "./channel-setup.ts";

export { byName, type ChannelDriver, reply } from "./channel-setup.ts";

/** Contract of every channel. */
export function testChannel(open: () => Promise<ChannelDriver>, traits: ContractTraits): void {
  testIntake(open, traits);
  testReplies(open, traits);
  testReactions(open, traits);
  testVoice(open, traits);
  testEnd(open);
}

function testIntake(open: () => Promise<ChannelDriver>, traits: ContractTraits): void {
  test("a peer is told that its message was received only after the message was stored", async () => {
    await using driver = await open();
    const events: string[] = [];
    const store = async (): Promise<void> => {
      for (let turn = 0; turn < 500; turn += 1) await setImmediate();
      events.push("stored");
    };
    driver.beforeKept?.(store);
    await start(driver, async () => {
      if (!traits.keeps) await store();
      return { outcome: "stored", duplicate: false };
    });

    const told = await driver.say([spoken("hello")]);
    events.push("told");

    expect(told).toEqual([true]);
    expect(events).toEqual(["stored", "told"]);
  });

  test("a message is handed over as it was said", async () => {
    await using driver = await open();
    const accepted = await collect(driver);

    await driver.say([{ ...spoken("grüße, 漢字 & <b> 🦀"), group: "family", member: "anna" }]);
    await expect.poll(() => accepted.length).toBe(1);

    const { channel, chat, sender, text } = accepted[0] ?? {};
    expect({ channel, chat, sender, text }).toEqual({
      channel: driver.channel.name,
      chat: driver.chat("family"),
      sender: driver.sender("anna"),
      text: "grüße, 漢字 & <b> 🦀",
    });
  });

  test("messages are handed over in the order in which they were said, each under its own id", async () => {
    await using driver = await open();
    const accepted = await collect(driver);
    const texts = Array.from({ length: 50 }, (_, index) => `text ${index}`);

    await driver.say(texts.map((text) => spoken(text)));

    await expect.poll(() => accepted.map(({ text }) => text)).toEqual(texts);
    expect(new Set(accepted.map(({ id }) => id)).size).toBe(50);
  });

  test.runIf(!traits.keeps)("a peer is not told that a message was received which the host refused", async () => {
    await using driver = await open();
    const refusal: Receipt = { outcome: "refused", reason: "no", retryAfterS: 0, stopped: false };
    await start(driver, async ({ text }) => (text === "bad" ? refusal : { outcome: "unknown-chat" }));

    const told = await driver.say([spoken("bad"), spoken("lost")]);

    expect(told).toEqual([false, false]);
  });

  test.runIf(traits.numbered)("a message that a peer sends again is handed over under the same id", async () => {
    await using driver = await open();
    const accepted = await collect(driver);
    const again = spoken("once more");

    const told = await driver.say([again, again]);

    expect(told).toEqual([true, true]);
    expect(accepted.length).toBeGreaterThan(0);
    expect(new Set(accepted.map(({ id }) => id))).toEqual(new Set([again.id]));
  });

  test.runIf(traits.offersAgain)("a message that the host has no room for is offered until it has", async () => {
    await using driver = await open();
    const refusal: Receipt = { outcome: "refused", reason: "no room", retryAfterS: 0.01, stopped: false };
    const offered: IncomingMessage[] = [];
    await start(driver, async (message) => {
      offered.push(message);
      return offered.length < 3 ? refusal : { outcome: "stored", duplicate: false };
    });

    await driver.say([spoken("patience")]);
    await expect.poll(() => offered.length).toBe(3);

    expect(new Set(offered.map(({ id }) => id)).size).toBe(1);
    expect(new Set(offered.map(({ text }) => text))).toEqual(new Set(["patience"]));
  });
}

function testReplies(open: () => Promise<ChannelDriver>, traits: ContractTraits): void {
  test("replies arrive once each and in order, also when one is sent again", async () => {
    await using driver = await open();
    await collect(driver);
    const before = await driver.heard();
    const chat = driver.chat("main");
    const replies = ["one", "two", "three"].map((text, index) => reply(index + 1, text, { chat }));

    for (const message of [...replies.slice(0, 2), ...replies.slice(1)]) {
      driver.offer?.(message);
      await driver.channel.send(message, AbortSignal.timeout(120_000));
    }

    await expect.poll(() => driver.heard()).toEqual(["one", "two", "three"]);
    expect(before).toEqual([]);
  });

  test.runIf(traits.threads)(
    "a message is handed over with its thread, and a reply arrives in the one that it belongs to",
    async () => {
      await using driver = await open();
      const accepted = await collect(driver);
      const chat = driver.chat("main");

      await driver.say([{ ...spoken("in a thread"), thread: "T 1" }, spoken("in none")]);
      await expect.poll(() => accepted.length).toBe(2);
      for (const message of [reply(1, "there", { chat, thread: "T 1" }), reply(2, "here", { chat })]) {
        driver.offer?.(message);
        await driver.channel.send(message, AbortSignal.timeout(120_000));
      }

      expect(accepted.map(({ thread }) => thread)).toEqual(["T 1", undefined]);
      await expect.poll(() => driver.heard()).toEqual(["there", "here"]);
      expect(await driver.heardIn?.()).toEqual(["T 1", undefined]);
    },
  );

  test.runIf(traits.quotes)(
    "a reply quotes the message that it is to quote, with its first part only, and another one quotes nothing",
    async () => {
      await using driver = await open();
      const accepted = await collect(driver);
      const chat = driver.chat("main");
      await driver.say([{ ...spoken("a question"), member: "anna" }]);
      await expect.poll(() => accepted.length).toBe(1);
      const id = accepted[0]?.id ?? "";
      const quote = { id, sender: accepted[0]?.sender.id ?? "", text: "a question" };

      for (const message of [reply(1, "long ".repeat(1_500), { chat, quote }), reply(2, "plain", { chat })]) {
        driver.offer?.(message);
        await driver.channel.send(message, AbortSignal.timeout(120_000));
      }

      await expect.poll(async () => (await driver.heard()).at(-1)).toBe("plain");
      const [first, ...others] = (await driver.heardQuoting?.()) ?? [];
      expect(first).toBe(id);
      expect(new Set(others)).toEqual(new Set([undefined]));
    },
  );

  test.runIf(traits.connected)("after the connection was cut all that is said arrives, once each way", async () => {
    await using driver = await open();
    const accepted = await collect(driver);
    await driver.say([spoken("before")]);

    await driver.cut?.();
    await driver.say([spoken("after")]);
    await expect.poll(() => driver.channel.state().state).toBe("open");
    await driver.channel.send(reply(1, "still here", { chat: driver.chat("main") }), AbortSignal.timeout(120_000));

    await expect.poll(() => new Set(accepted.map(({ text }) => text))).toEqual(new Set(["before", "after"]));
    expect(new Set(accepted.map(({ id }) => id)).size).toBe(2);
    await expect.poll(() => driver.heard()).toEqual(["still here"]);
  });
}

function testEnd(open: () => Promise<ChannelDriver>): void {
  test("its state is open while it runs and closed after its end, when messages are no longer accepted", async () => {
    await using driver = await open();
    const before = driver.channel.state().state;
    const accepted = await collect(driver);
    const during = driver.channel.state().state;

    await driver.channel[Symbol.asyncDispose]();
    const told = await driver.say([spoken("too late")]);

    expect([before, during, driver.channel.state().state]).toEqual(["connecting", "open", "closed"]);
    expect(told).toEqual([false]);
    expect(accepted).toEqual([]);
  });

  test("its end waits for a message that is being stored, so that the store can be closed after it", async () => {
    await using driver = await open();
    const events: string[] = [];
    const begun = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    await start(driver, async () => {
      begun.resolve();
      await gate.promise;
      events.push("stored");
      return { outcome: "stored", duplicate: false };
    });
    const saying = driver.say([spoken("just in time")]);
    await begun.promise;

    const ending = driver.channel[Symbol.asyncDispose]().then(() => events.push("ended"));
    for (let turn = 0; turn < 100; turn += 1) await setImmediate();
    gate.resolve();
    await Promise.all([ending, saying]);

    expect(events).toEqual(["stored", "ended"]);
  });
}
