import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import type { Receipt } from "../../src/channels/channel.ts";
import type { IncomingMessage } from "../../src/domain/chats/message.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shareServerProcess } from "../support/whatsapp/fake-whatsapp.ts";
import { outgoing, WhatsAppRig } from "../support/whatsapp-rig.ts";

shareServerProcess();

async function next(rig: WhatsAppRig, id: string): Promise<IncomingMessage> {
  await expect.poll(() => rig.accepted.map((message) => message.id)).toContain(id);
  return rig.accepted.find((message) => message.id === id) ?? (rig.accepted[0] as IncomingMessage);
}

for (const addressing of ["lid", "pn"] as const) {
  test(`in a group with addressing ${addressing} members are known by their LID, and mentions and quotes of the agent are seen`, async () => {
    await using rig = await WhatsAppRig.linked();
    const { ann, bob, group } = await rig.family(addressing);
    const { bot } = rig.whatsapp;

    const first = await next(rig, await bob.say(group, "hello"));
    const own = addressing === "lid" ? bot.lid : bot.pn;
    const mention = await next(
      rig,
      await ann.say(group, `@${own} and @${addressing === "lid" ? bob.lid : bob.pn}?`, {
        mention: [bot.name, bob.name],
      }),
    );
    await rig.send(outgoing(group.id, 1, "Yes."));
    await expect.poll(() => ann.texts(group)).toEqual(["Yes."]);
    const [answer] = await ann.inbox();
    const reply = await next(rig, await ann.say(group, "why?", { quote: answer?.id }));
    const other = await next(rig, await ann.say(group, "so?", { quote: first.id }));

    expect(first).toMatchObject({
      channel: "whatsapp",
      chat: group.id,
      sender: { id: `${bob.lid}@lid`, name: "Bob" },
      text: "hello",
      mention: false,
      chatTitle: "Family",
    });
    expect(Math.abs((first.sentAt ?? 0) - Date.now())).toBeLessThan(60_000);
    expect(mention).toMatchObject({ text: "@crab and @Bob?", mention: true, sender: { id: `${ann.lid}@lid` } });
    expect(reply).toMatchObject({
      mention: false,
      quote: { id: answer?.id, toAgent: true, seq: 1 },
    });
    expect(other.quote).toMatchObject({ id: first.id, text: "hello", toAgent: false, author: `${bob.lid}@lid` });
  });
}

test("what was forwarded says so, with text or with a file, and nothing else does", async () => {
  await using rig = await WhatsAppRig.linked();
  const { ann, group } = await rig.family();
  const image = { base64: "iVBORw0KGgo=", mimeType: "image/png" };

  const own = await next(rig, await ann.say(group, "hello"));
  const text = await next(
    rig,
    await ann.say(group, "@crab /stop", { mention: [rig.whatsapp.bot.name], forwarded: true }),
  );
  const file = await next(rig, await ann.say(group, "@crab", { image, forwarded: true }));
  const mention = await next(rig, await ann.say(group, "you?", { mention: [rig.whatsapp.bot.name] }));

  expect([own, text, file, mention].map(({ forwarded }) => forwarded ?? false)).toEqual([false, true, true, false]);
});

test("what is no text comes as text that says what it is; what says nothing, and reactions, do not come", async () => {
  await using rig = await WhatsAppRig.linked();
  const { ann, group } = await rig.family();
  const said = await ann.say(group, "first");
  await rig.send(outgoing(group.id, 1, "An answer"));
  await expect.poll(() => ann.texts(group)).toEqual(["An answer"]);
  const [answer] = await ann.inbox();

  await ann.say(group, "👍", { reactTo: said });
  await ann.say(group, "🎉", { reactTo: answer?.id });
  await ann.say(group, "", { reactTo: said });
  await ann.say(group, "first, but better", { edit: said });
  await ann.say(group, "", { delete: said });
  await ann.say(group, "", { contact: { name: "Carl", phone: "+49 151 1" } });
  await ann.say(group, "", { location: { latitude: 52.5, longitude: 13.4, name: "Berlin" } });
  await ann.say(group, "which one?", { poll: ["a", "b"] });
  await ann.say(group, "", { album: 2 });
  await ann.say(group, "", { unknown: true });
  await rig.whatsapp.perform("forgeHistory", { from: "Ann", account: rig.whatsapp.bot.name, text: "forged" });
  const last = await ann.say(group, "last");
  await next(rig, last);

  expect(rig.accepted.map(({ text }) => text)).toEqual([
    "first",
    `[edited the message ${said}, which says now:] first, but better`,
    `[deleted the message ${said}]`,
    "[shared the contact Carl, +49 151 1]",
    "[shared the location Berlin, 52.50000 13.40000]",
    "last",
  ]);
});

test("files are fetched from the server that WhatsApp names, opened, and refused above the limit", async () => {
  await using rig = await WhatsAppRig.linked();
  await using folder = await temporaryFolder();
  const { ann, group } = await rig.family();
  const content = Buffer.alloc(200_000, "picture ");
  const base64 = content.toString("base64");

  const image = await next(rig, await ann.say(group, "look", { image: { base64, mimeType: "image/png" } }));
  const voice = await next(rig, await ann.say(group, "", { voice: { base64, mimeType: "audio/ogg; codecs=opus" } }));
  const document = await next(
    rig,
    await ann.say(group, "", { document: { base64, mimeType: "text/plain", name: "a/b.txt" } }),
  );
  const path = join(folder.path, "image");
  await image.attachments?.[0]?.fetch(path, content.length, AbortSignal.timeout(120_000));
  expect(image).toMatchObject({
    text: "look",
    attachments: [{ kind: "image", mimeType: "image/png", bytes: content.length }],
  });
  expect((await readFile(path)).equals(content)).toBe(true);
  const smaller = [join(folder.path, "voice"), content.length - 1, AbortSignal.timeout(120_000)] as const;
  await expect(voice.attachments?.[0]?.fetch(...smaller)).rejects.toThrow(/larger/);
  expect(voice.attachments).toMatchObject([{ kind: "audio" }]);
  expect(document).toMatchObject({ text: "", attachments: [{ kind: "document", name: "a/b.txt" }] });
});

test("in a chat of two everything is for the agent, the owner's chat with himself included", async () => {
  await using rig = await WhatsAppRig.linked();
  const { ann } = await rig.family();
  const { bot, owner } = rig.whatsapp;

  const direct = await next(rig, await ann.say(bot, "hello"));
  const self = await next(rig, await owner.say(owner, "note"));
  await owner.say(ann, "not for the agent");
  await rig.send(outgoing(self.chat, 1, "noted"));
  await rig.send(outgoing(direct.chat, 2, "hello Ann"));
  await expect.poll(() => ann.texts()).toContain("hello Ann");
  await expect.poll(() => owner.texts()).toContain("noted");

  expect(direct).toMatchObject({
    chat: `${ann.lid}@lid`,
    sender: { id: `${ann.lid}@lid`, name: "Ann" },
    mention: true,
    direct: true,
  });
  expect(self).toMatchObject({ chat: `${bot.lid}@lid`, sender: { id: `${bot.lid}@lid` }, mention: true });
  expect(rig.accepted).toHaveLength(2);
});

test("what was said while the host was away comes once and in order, also when it is delivered again", async () => {
  await using rig = await WhatsAppRig.linked();
  const { ann, group } = await rig.family();
  const online = await ann.say(group, "before");
  await next(rig, online);
  await rig.stop();
  await ann.say(group, "one");
  await ann.say(group, "two");

  await rig.start();
  const last = await ann.say(group, "three", { withoutKey: true });
  await next(rig, last);
  await rig.whatsapp.repeat(online);
  await next(rig, await ann.say(group, "four"));

  expect(rig.accepted.map(({ text }) => text)).toEqual(["before", "one", "two", "three", "four"]);
});

test("a message that the host cannot take yet is offered again, after a restart as well, though WhatsApp has forgotten it", async () => {
  const refused: Receipt = { outcome: "refused", reason: "the disk is full", retryAfterS: 0.01, stopped: true };
  const offers: string[] = [];
  let isFull = false;
  await using rig = await WhatsAppRig.linked({
    accept: async ({ text }) => {
      offers.push(text);
      return isFull ? refused : { outcome: "stored", duplicate: false };
    },
  });
  const { ann, group } = await rig.family();
  await next(rig, await ann.say(group, "hello"));

  isFull = true;
  await ann.say(group, "one");
  const two = await ann.say(group, "two");
  await expect.poll(() => offers.filter((text) => text === "one").length).toBeGreaterThan(2);
  await expect.poll(async () => (await rig.whatsapp.observe()).receipts.flatMap(({ ids }) => ids)).toContain(two);
  await rig.stop();
  isFull = false;
  await rig.start();

  await expect.poll(() => rig.accepted.map(({ text }) => text)).toEqual(["hello", "one", "two"]);
});

test("WhatsApp is told that a message was received only when it is on disk", async () => {
  let isHeld = false;
  const tries: string[] = [];
  await using rig = await WhatsAppRig.linked({
    around: (store) => ({
      read: (space, keys) => store.read(space, keys),
      list: (space) => store.list(space),
      rename: (space, to) => store.rename(space, to),
      apply: async (space, changes) => {
        if (space === "whatsapp/journal") tries.push(space);
        if (isHeld && space === "whatsapp/journal") throw new Error("the disk is full");
        await store.apply(space, changes);
      },
    }),
  });
  const { ann, group } = await rig.family();
  const received = async (): Promise<readonly string[]> =>
    (await rig.whatsapp.observe()).receipts.flatMap(({ ids }) => ids);
  await next(rig, await ann.say(group, "one"));

  isHeld = true;
  const before = tries.length;
  const two = await ann.say(group, "two");
  await expect.poll(() => tries.length).toBeGreaterThan(before + 1);
  const whileHeld = await received();
  isHeld = false;
  await next(rig, two);

  expect(whileHeld).not.toContain(two);
  await expect.poll(received).toContain(two);
});

test("groups that change are told: who is in them, what they are called, and that the account was removed", async () => {
  await using rig = await WhatsAppRig.linked();
  const { ann, bob, group } = await rig.family();
  const carl = await rig.whatsapp.addUser({ name: "Carl", pn: "15550000013", lid: "90000000000013" });
  await next(rig, await ann.say(group, "hello"));

  await ann.rename(group, "Relatives");
  await expect.poll(() => rig.chats.at(-1)?.title).toBe("Relatives");
  await ann.change(group, "add", carl);
  await expect.poll(() => rig.chats.at(-1)?.members?.map(({ id }) => id)).toContain(`${carl.lid}@lid`);
  await ann.change(group, "remove", bob);
  await expect.poll(() => rig.chats.at(-1)?.members?.map(({ id }) => id)).not.toContain(`${bob.lid}@lid`);
  await ann.change(group, "remove", rig.whatsapp.bot);

  await expect.poll(() => rig.chats.at(-1)).toEqual({ chat: group.id, left: true });
});
