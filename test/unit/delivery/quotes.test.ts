import * as fc from "fast-check";
import { expect, test } from "vitest";

import { createQuotes } from "../../../src/delivery/quotes.ts";
import type { IncomingMessage, MessageState, OutgoingMessage } from "../../../src/domain/chats/message.ts";
import type { Store } from "../../../src/stores/contract/store.ts";
import { draft, say } from "../../contracts/store-setup.ts";
import { openOutboxRig } from "../../support/outbox-rig.ts";
import { openTestStore } from "../../support/open-test-store.ts";

const placed = { group: "family", state: "waiting", at: 1 } as const;

function quotesOf(store: Store, canQuote = true): ReturnType<typeof createQuotes> {
  return createQuotes({ messages: store.messages, canQuote: () => canQuote });
}

/** A row that answers messages of these ids. */
async function answer(store: Store, inReplyTo: readonly string[], more: object = {}): Promise<OutgoingMessage> {
  return store.outbox.add(draft("answer", { inReplyTo, ...more }), 2);
}

test("an answer quotes the last message that it answers where others have come in between, and only there", async () => {
  await using home = await openTestStore();
  const { store } = home;
  await store.messages.insert(say("1"), placed);
  await store.messages.insert(say("2", { sender: { id: "bea", name: "Bea" }, text: "x".repeat(1_000) }), placed);
  const row = await answer(store, ["1", "2"]);

  const before = await quotesOf(store)(row);
  await store.messages.insert(say("3"), { ...placed, state: "context" });
  const after = await quotesOf(store)(row);

  expect(before).toBeUndefined();
  expect(after).toEqual({ id: "2", sender: "bea", text: "x".repeat(300) });
  expect(await quotesOf(store, false)(row)).toBeUndefined();
  const reaction = { message: "2", sender: "bea", emoji: "👍" };
  expect(await quotesOf(store)(await answer(store, ["2"], { reaction }))).toBeUndefined();
  expect(await quotesOf(store)(await answer(store, []))).toBeUndefined();
});

test("of a message without words its files are told", async () => {
  await using home = await openTestStore();
  const { store } = home;
  const attachments = [{ kind: "image" as const, failure: "too large" }];
  await store.messages.insert(say("1", { text: " " }), { ...placed, attachments });
  await store.messages.insert(say("2"), placed);

  expect(await quotesOf(store)(await answer(store, ["1"]))).toMatchObject({ text: "[image]" });
});

test("a notice quotes what is not going to be answered anymore, an answer does not", async () => {
  await using home = await openTestStore();
  const { store } = home;
  await store.messages.insert(say("1"), { ...placed, state: "context" });
  await store.messages.insert(say("2"), { ...placed, state: "context" });

  expect(await quotesOf(store)(await answer(store, ["1"], { kind: "notice" }))).toMatchObject({ id: "1" });
  expect(await quotesOf(store)(await answer(store, ["1"]))).toBeUndefined();
});

const few = <T extends string>(...of: T[]): fc.Arbitrary<T> => fc.constantFrom(...of);

const spoken = fc.record({
  channel: few("terminal", "other"),
  chat: few("chat", "elsewhere"),
  group: few("family", "work"),
  id: few("1", "2", "3"),
  sender: few("ann", "bea"),
  state: few<MessageState>("context", "waiting", "handled"),
});

test("what is quoted was said to the agent in the same chat of the same group, under the id that is answered, and by one member only", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(spoken, { maxLength: 12 }),
      fc.array(few("1", "2", "3"), { maxLength: 3 }),
      async (said, ids) => {
        await using home = await openTestStore();
        const { store } = home;
        const kept: (IncomingMessage & { group: string; state: MessageState })[] = [];
        for (const [index, { group, state, sender, ...rest }] of said.entries()) {
          const message = { ...rest, sender: { id: sender, name: sender }, text: `text ${index}`, mention: false };
          const { duplicate } = await store.messages.insert(message, { group, state, at: index });
          if (!duplicate) kept.push({ ...message, group, state });
        }
        const quote = await quotesOf(store)(await answer(store, ids));
        const named = kept.filter(
          ({ channel, chat, id }) => channel === "terminal" && chat === "chat" && id === ids.at(-1),
        );
        const [only] =
          named.length === 1 ? named.filter(({ group, state }) => group === "family" && state !== "context") : [];
        const later = only ? kept.slice(kept.indexOf(only) + 1) : [];
        const isOvertaken = later.some(
          ({ channel, chat, group, state }) =>
            channel === "terminal" && chat === "chat" && group === "family" && state !== "handled",
        );
        expect(quote).toEqual(
          only && isOvertaken ? { id: only.id, sender: only.sender.id, text: only.text } : undefined,
        );
      },
    ),
    { numRuns: 60 },
  );
});

test("a message goes out with its quote, and without one where that cannot be looked up", async () => {
  const quote = { id: "1", sender: "ann", text: "text" };
  const answers = [async () => Promise.reject(new Error("the disk is gone")), async () => quote, async () => undefined];
  await using rig = await openOutboxRig({ quoteOf: async () => answers.shift()?.() });

  for (const text of ["one", "two", "three"]) {
    await rig.store.outbox.add({ ...draft(text), channel: "fake" }, 1);
  }
  rig.outbox.wake();

  await expect.poll(() => rig.channel.attempts.length).toBe(3);
  expect(rig.channel.attempts.map((message) => message.quote)).toEqual([undefined, quote, undefined]);
});
