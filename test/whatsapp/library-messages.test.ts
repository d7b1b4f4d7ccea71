import { downloadMediaMessage, WAMessageStubType } from "@whiskeysockets/baileys";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";

import type { LibraryClient } from "../support/whatsapp/library-client.ts";
import { LibraryRig } from "../support/whatsapp/library-rig.ts";

const rig = await LibraryRig.open();
const { whatsapp } = rig;
let client: LibraryClient;
beforeEach(async () => {
  client = await rig.logIn();
});
afterEach(async () => client[Symbol.asyncDispose]());
afterAll(async () => rig[Symbol.asyncDispose]());

const picture = Buffer.from("89504e470d0a1a0a", "hex");

/** The message with this id, as the library hands it over. */
async function heard(id: string) {
  await expect.poll(() => client.messages.some(({ key }) => key.id === id)).toBe(true);
  const message = client.messages.find(({ key }) => key.id === id);
  if (!message) throw new Error(`${id} is gone`);
  return message;
}

test.each(["lid", "pn"] as const)(
  "a message of a group with %s addressing tells both names of its sender",
  async (addressing) => {
    const { group, ann } = await rig.group(addressing);

    const id = await ann.say(group, "@Crab hello", { mention: [whatsapp.bot.name] });

    const { key, message, pushName } = await heard(id);
    const names = [`${ann.lid}@lid`, `${ann.pn}@s.whatsapp.net`];
    const bot = addressing === "lid" ? `${whatsapp.bot.lid}@lid` : `${whatsapp.bot.pn}@s.whatsapp.net`;
    expect([key.participant, key.participantAlt]).toEqual(addressing === "lid" ? names : names.toReversed());
    expect(key.remoteJid).toBe(group.id);
    expect(pushName).toBe(ann.name);
    expect(message?.extendedTextMessage?.contextInfo?.mentionedJid).toEqual([bot]);
  },
);

test("an answer to a message of ours tells its id and that we have written it", async () => {
  const { group, ann } = await rig.group();
  await client.socket.sendMessage(group.id, { text: "shall I?" }, { messageId: "QUESTION" });
  await expect.poll(async () => ann.texts()).toEqual(["shall I?"]);

  const id = await ann.say(group, "yes", { quote: "QUESTION" });

  const context = (await heard(id)).message?.extendedTextMessage?.contextInfo;
  expect(context).toMatchObject({ stanzaId: "QUESTION", participant: `${whatsapp.bot.lid}@lid` });
  expect(context?.quotedMessage?.conversation).toBe("shall I?");
});

test("a message that cannot be decrypted is a stub at first, and comes again whole when the library has asked", async () => {
  const { group, ann } = await rig.group();

  const id = await ann.say(group, "secret", { withoutKey: true });

  expect((await heard(id)).message?.conversation).toBe("secret");
  expect(
    client.upserts.filter(({ message }) => message.key.id === id).map(({ message }) => message.messageStubType),
  ).toEqual([WAMessageStubType.CIPHERTEXT, undefined]);
  expect((await whatsapp.observe()).receipts).toContainEqual(expect.objectContaining({ type: "retry", ids: [id] }));
});

test("a message that is delivered again is handed over again, with stubs between", async () => {
  const { group, ann } = await rig.group();
  const id = await ann.say(group, "twice");
  await heard(id);

  await whatsapp.repeat(id);

  const all = () => client.upserts.filter(({ message }) => message.key.id === id);
  await expect.poll(() => all().length).toBe(3);
  expect(all().map(({ message }) => message.message?.conversation)).toEqual(["twice", undefined, "twice"]);
  expect(all()[1]?.message.messageStubType).toBeDefined();
});

test("what waited while the client was away comes as `append`, in order", async () => {
  const { group, ann } = await rig.group();
  await client[Symbol.asyncDispose]();
  const ids = [await ann.say(group, "one"), await ann.say(group, "two"), await ann.say(group, "three")];

  client = await rig.logIn();

  const waited = () => client.upserts.filter(({ message }) => ids.includes(message.key.id ?? ""));
  await expect.poll(() => waited().length).toBe(3);
  expect(waited().map(({ type, message }) => [type, message.message?.conversation])).toEqual([
    ["append", "one"],
    ["append", "two"],
    ["append", "three"],
  ]);
});

test.each(["lid", "pn"] as const)(
  "members of a group with %s addressing read what we send, and the server acknowledges it",
  async (addressing) => {
    const { group, ann, bob } = await rig.group(addressing);

    await client.socket.sendMessage(group.id, { text: "first" }, { messageId: `FIRST${addressing}` });
    await client.socket.sendMessage(group.id, { text: "second" });

    await expect.poll(() => client.acks.length).toBe(2);
    expect(client.acks[0]?.attrs).toMatchObject({ id: `FIRST${addressing}`, from: group.id });
    expect(await ann.texts(group)).toEqual(["first", "second"]);
    expect(await bob.texts(group)).toEqual(["first", "second"]);
    await expect.poll(() => client.receipts.map(({ key }) => key.id)).toContain(`FIRST${addressing}`);
  },
);

test("when a member could not decrypt and asks again, the library sends the message to all once more", async () => {
  const { group, ann } = await rig.group();
  await client.socket.sendMessage(group.id, { text: "again?" }, { messageId: "AGAIN" });
  await expect.poll(async () => ann.texts(group)).toEqual(["again?"]);

  await ann.askAgain(group, "AGAIN");

  await expect
    .poll(async () =>
      (await whatsapp.observe()).sends.flatMap(({ id, readBy }) => (id === "AGAIN" ? [readBy.length] : [])),
    )
    .toEqual([3, 3]);
  expect(await ann.texts(group)).toEqual(["again?"]);
});

test("a direct message goes both ways, by LID", async () => {
  const dora = await rig.somebody("Dora");

  const id = await dora.say(whatsapp.bot, "psst");
  const { key } = await heard(id);
  await client.socket.sendMessage(key.remoteJid ?? "", { text: "yes?" });

  expect(key).toMatchObject({ remoteJid: `${dora.lid}@lid`, remoteJidAlt: `${dora.pn}@s.whatsapp.net`, fromMe: false });
  await expect.poll(async () => dora.texts()).toEqual(["yes?"]);
});

test("what the owner writes on the own phone is marked as ours: to oneself, to somebody, in a group", async () => {
  const { group, ann } = await rig.group();

  const toOneself = await whatsapp.owner.say(whatsapp.bot, "note");
  const toAnn = await whatsapp.owner.say(ann, "hi Ann");
  const toAll = await whatsapp.owner.say(group, "hi all");

  expect((await heard(toOneself)).key).toMatchObject({ fromMe: true, remoteJid: `${whatsapp.bot.lid}@lid` });
  expect((await heard(toAnn)).key).toMatchObject({ fromMe: true, remoteJid: `${ann.lid}@lid` });
  expect((await heard(toAll)).key).toMatchObject({ fromMe: true, remoteJid: group.id });
});

test("reactions, edits and deletions name the message that they are about, both ways", async () => {
  const { group, ann } = await rig.group();
  const first = await ann.say(group, "helo");
  await heard(first);

  const reaction = await ann.say(group, "👍", { reactTo: first });
  const edit = await ann.say(group, "hello", { edit: first });
  const deletion = await ann.say(group, "", { delete: first });
  const key = { remoteJid: group.id, id: first, fromMe: false, participant: `${ann.lid}@lid` };
  await client.socket.sendMessage(group.id, { react: { text: "🦀", key } });
  await client.socket.sendMessage(group.id, { text: "wrng" }, { messageId: "OURS" });
  const own = { remoteJid: group.id, id: "OURS", fromMe: true };
  await client.socket.sendMessage(group.id, { text: "right", edit: own });
  await client.socket.sendMessage(group.id, { delete: own });

  expect((await heard(reaction)).message?.reactionMessage).toMatchObject({ text: "👍", key: { id: first } });
  const protocol = (await heard(edit)).message?.protocolMessage;
  expect(protocol?.editedMessage?.conversation).toBe("hello");
  expect(protocol?.key?.id).toBe(first);
  expect((await heard(deletion)).message?.protocolMessage?.key?.id).toBe(first);
  await expect
    .poll(async () => (await ann.inbox()).map(({ content }) => [content.kind, content.text, content.about]))
    .toEqual([
      ["reaction", "🦀", first],
      ["text", "wrng", undefined],
      ["edit", "right", "OURS"],
      ["delete", "", "OURS"],
    ]);
});

test("files come in as they were sent: image, voice, video, document", async () => {
  const { group, ann } = await rig.group();
  const file = { base64: picture.toString("base64"), mimeType: "image/png" };

  const ids = [
    await ann.say(group, "look", { image: file }),
    await ann.say(group, "", { voice: { ...file, mimeType: "audio/ogg; codecs=opus" } }),
    await ann.say(group, "", { video: { ...file, mimeType: "video/mp4" } }),
    await ann.say(group, "read", { document: { ...file, name: "plan.pdf", mimeType: "application/pdf" } }),
  ];

  const messages = await Promise.all(ids.map(heard));
  for (const message of messages) expect(await downloadMediaMessage(message, "buffer", {})).toEqual(picture);
  expect(messages[0]?.message?.imageMessage).toMatchObject({ caption: "look", mimetype: "image/png" });
  expect(messages[1]?.message?.audioMessage?.ptt).toBe(true);
  const document = messages[3]?.message?.documentWithCaptionMessage?.message?.documentMessage;
  expect(document).toMatchObject({ fileName: "plan.pdf", caption: "read" });
});

test("a file that the platform does not have anymore cannot be downloaded", async () => {
  const { group, ann } = await rig.group();
  const id = await ann.say(group, "look", { image: { base64: picture.toString("base64"), mimeType: "image/png" } });
  const message = await heard(id);

  await whatsapp.perform("dropFile", { id });

  await expect(downloadMediaMessage(message, "buffer", {})).rejects.toThrow("Failed to fetch");
});

test("files go out so that members can open them", async () => {
  const { group, ann } = await rig.group();

  const document = { document: picture, mimetype: "text/csv", fileName: "list.csv", caption: "the list" };
  await client.socket.sendMessage(group.id, document, { messageId: "LIST" });
  await client.socket.sendMessage(group.id, { image: picture, jpegThumbnail: "" }, { messageId: "PICTURE" });

  await expect.poll(async () => (await ann.inbox()).map(({ content }) => content.kind)).toEqual(["document", "image"]);
  expect((await ann.inbox())[0]?.content).toMatchObject({
    text: "the list",
    file: { name: "list.csv", mimeType: "text/csv" },
  });
  expect(await whatsapp.file("LIST")).toEqual(picture);
  expect(await whatsapp.file("PICTURE")).toEqual(picture);
});

test("the library prints private keys on ordinary traffic", () => {
  expect(
    rig.printed.flat().some((value) => typeof value === "object" && JSON.stringify(value).includes("currentRatchet")),
  ).toBe(true);
});
