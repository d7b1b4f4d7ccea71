import { expect, test } from "vitest";

import type { IncomingMessage } from "../../src/domain/chats/message.ts";
import { type FakeGroup, type FakeUser, shareServerProcess } from "../support/whatsapp/fake-whatsapp.ts";
import { outgoing, WhatsAppRig } from "../support/whatsapp-rig.ts";

shareServerProcess();

/** Sends a text of the outbox and returns what WhatsApp calls it, part by part. */
async function sent(rig: WhatsAppRig, to: { group: FakeGroup; seq: number; reader: FakeUser }, text: string) {
  const { group, seq, reader } = to;
  const before = (await reader.inbox()).length;
  await rig.send(outgoing(group.id, seq, text));
  const parts = (await reader.inbox()).slice(before);
  return parts.map(({ id }) => id);
}

/** Resolves when all that was said before this has reached the host. */
async function heardAll(rig: WhatsAppRig, speaker: FakeUser, group: FakeGroup): Promise<IncomingMessage[]> {
  const last = await speaker.say(group, "last");
  await expect.poll(() => rig.accepted.map(({ id }) => id)).toContain(last);
  return rig.accepted.filter(({ text }) => !["hello", "last"].includes(text));
}

for (const addressing of ["lid", "pn"] as const) {
  test(`in a group with addressing ${addressing} a reaction to a message of ours, or to any part of it, is told with its number; other reactions cost nothing`, async () => {
    const written: string[] = [];
    await using rig = await WhatsAppRig.linked({
      around: (store) => ({
        read: (space, keys) => store.read(space, keys),
        list: (space) => store.list(space),
        rename: (space, to) => store.rename(space, to),
        apply: async (space, changes) => {
          if (space.endsWith("/journal"))
            written.push(...[...changes.values()].flatMap((value) => value?.toString() ?? []));
          await store.apply(space, changes);
        },
      }),
    });
    const { ann, bob, group } = await rig.family(addressing);
    const said = await ann.say(group, "hello");
    await heardAll(rig, bob, group);
    const [card = ""] = await sent(rig, { group, seq: 7, reader: bob }, "May I?");
    const [, second = ""] = await sent(rig, { group, seq: 8, reader: bob }, "long ".repeat(1_500));
    const before = written.length;

    const first = await ann.say(group, "👍🏾", { reactTo: card });
    await bob.say(group, "", { reactTo: card });
    await ann.say(group, "👎", { reactTo: second });
    for (const emoji of ["👍", ""]) await bob.say(group, emoji, { reactTo: said });
    await rig.channel.react(group.id, { message: said, sender: `${ann.lid}@lid`, emoji: "👍" });
    const messages = await heardAll(rig, ann, group);
    await expect.poll(() => rig.reactions.length).toBe(3);

    const known = { channel: "whatsapp", chat: group.id };
    const [annId, bobId] = [ann, bob].map(({ lid, name }) => ({ id: `${lid}@lid`, name }));
    expect(rig.reactions).toMatchObject([
      { ...known, id: first, sender: annId, seq: 7, emoji: "👍🏾" },
      { ...known, sender: bobId, seq: 7, emoji: "" },
      { ...known, sender: annId, seq: 8, emoji: "👎" },
    ]);
    expect(messages).toEqual([]);
    // Three reactions and "last": those to messages of others were not even kept for a moment.
    expect(written.length - before).toBe(4);
  });
}

test("a message of a member that has the id of ours is not ours: neither a reaction nor a reply to it is one to us", async () => {
  await using rig = await WhatsAppRig.linked();
  const { ann, bob, group } = await rig.family();
  await ann.say(group, "hello");
  await bob.say(group, "hello");
  await heardAll(rig, ann, group);
  const [card = ""] = await sent(rig, { group, seq: 7, reader: bob }, "May I?");
  const right = await ann.say(group, "yes", { quote: card });
  const own = await ann.say(group, "👍", { reactTo: card });

  await bob.say(group, "Who wants cake?", { id: card });
  await ann.say(group, "👍", { reactTo: card });
  const wrong = await ann.say(group, "yes", { quote: card });
  const messages = await heardAll(rig, ann, group);

  expect(rig.reactions.map(({ id }) => id)).toEqual([own]);
  const quotes = new Map(messages.map(({ id, quote }) => [id, quote]));
  expect(quotes.get(right)).toMatchObject({ seq: 7, toAgent: true });
  expect(quotes.get(wrong)).toMatchObject({ id: card, toAgent: false, author: `${bob.lid}@lid` });
  expect(quotes.get(wrong)?.seq).toBeUndefined();
});

test("which message is which outlives a restart, and so does a reaction that the host could not take", async () => {
  await using rig = await WhatsAppRig.linked();
  const { ann, bob, group } = await rig.family();
  await ann.say(group, "hello");
  await heardAll(rig, ann, group);
  const [card = ""] = await sent(rig, { group, seq: 7, reader: bob }, "May I?");
  await rig.stop();
  let offers = 0;

  await rig.start({
    react: async () => {
      offers += 1;
      return { outcome: "refused", reason: "the disk is full", retryAfterS: 0.01, stopped: true };
    },
  });
  const reaction = await ann.say(group, "👍", { reactTo: card });
  await expect.poll(() => offers).toBeGreaterThan(2);
  await expect.poll(async () => (await rig.whatsapp.observe()).receipts.flatMap(({ ids }) => ids)).toContain(reaction);
  await rig.stop();
  await rig.start();

  await expect.poll(() => rig.reactions.map(({ id, seq }) => ({ id, seq }))).toEqual([{ id: reaction, seq: 7 }]);
  const reply = await ann.say(group, "no", { quote: card });
  await expect.poll(() => rig.accepted.find(({ id }) => id === reply)?.quote?.seq).toBe(7);
});

test("a reaction and a reply to a message that the connection has forgotten count while the host has it", async () => {
  await using rig = await WhatsAppRig.linked();
  const { ann, bob, group } = await rig.family();
  await ann.say(group, "hello");
  await bob.say(group, "hello");
  await heardAll(rig, ann, group);
  const [one = ""] = await sent(rig, { group, seq: 7, reader: bob }, "May I?");
  const [, two = ""] = await sent(rig, { group, seq: 8, reader: bob }, "long ".repeat(1_500));
  const [other = ""] = await sent(rig, { group, seq: 9, reader: bob }, "Good morning.");
  await rig.stop();
  const { channelState } = rig.store;
  const forgotten = [...(await channelState.list("whatsapp/sent")).keys()];
  await channelState.apply("whatsapp/sent", new Map(forgotten.map((id) => [id, null])));
  rig.sentTo = [8, 7];
  await rig.start();

  const thumbs = [await ann.say(group, "👍", { reactTo: one }), await bob.say(group, "👎", { reactTo: two })];
  await ann.say(group, "👍", { reactTo: other });
  const reply = await ann.say(group, "yes", { quote: one });
  const messages = await heardAll(rig, ann, group);
  await expect.poll(() => rig.reactions.length).toBe(2);
  rig.sentTo = [];
  const late = await ann.say(group, "yes", { quote: two });
  await bob.say(group, "👍", { reactTo: one });
  const later = await heardAll(rig, bob, group);

  expect(rig.reactions.map(({ id, seq }) => [id, seq])).toEqual([
    [thumbs[0], 7],
    [thumbs[1], 8],
  ]);
  expect(messages.find(({ id }) => id === reply)?.quote?.seq).toBe(7);
  expect(later.find(({ id }) => id === late)?.quote).toMatchObject({ toAgent: false });
  expect(later.find(({ id }) => id === late)?.quote?.seq).toBeUndefined();
});

test("in a chat of two, and in the owner's chat with oneself, only what people do there is a reaction", async () => {
  await using rig = await WhatsAppRig.linked();
  const { ann, group } = await rig.family();
  const { bot, owner } = rig.whatsapp;
  await ann.say(bot, "hello");
  await owner.say(owner, "hello");
  await expect.poll(() => rig.accepted.length).toBe(2);
  await rig.send(outgoing(`${ann.lid}@lid`, 1, "May I, Ann?"));
  await rig.send(outgoing(`${bot.lid}@lid`, 2, "May I?"));
  await expect.poll(() => ann.texts()).toContain("May I, Ann?");
  await expect.poll(() => owner.texts()).toContain("May I?");
  const [toAnn] = (await ann.inbox()).slice(-1);
  const toOwner = (await owner.inbox()).find(({ content }) => content.text === "May I?");

  await ann.say(bot, "👍", { reactTo: toAnn?.id });
  await expect.poll(() => rig.reactions.length).toBe(1);
  await owner.say(owner, "👎", { reactTo: toOwner?.id });
  await expect.poll(() => rig.reactions.length).toBe(2);
  // What the account itself does elsewhere, on its phone or by the agent, is nobody's answer.
  await owner.say(ann, "👎", { reactTo: toAnn?.id });
  await rig.channel.react(`${bot.lid}@lid`, { message: toOwner?.id ?? "", sender: `${bot.lid}@lid`, emoji: "👍" });
  await heardAll(rig, ann, group);

  expect(rig.reactions).toMatchObject([
    { chat: `${ann.lid}@lid`, sender: { id: `${ann.lid}@lid` }, seq: 1, emoji: "👍" },
    { chat: `${bot.lid}@lid`, sender: { id: `${bot.lid}@lid` }, seq: 2, emoji: "👎" },
  ]);
  expect(rig.accepted.filter(({ text }) => text !== "hello" && text !== "last")).toEqual([]);
});
