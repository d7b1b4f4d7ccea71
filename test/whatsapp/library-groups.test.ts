import { afterAll, afterEach, beforeEach, expect, test } from "vitest";

import type { FakeUser } from "../support/whatsapp/fake-whatsapp.ts";
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

const lidOf = ({ lid }: Pick<FakeUser, "lid">) => `${lid}@lid`;
const pnOf = ({ pn }: Pick<FakeUser, "pn">) => `${pn}@s.whatsapp.net`;

test.each(["lid", "pn"] as const)(
  "the server tells who is in a group with %s addressing, by both names",
  async (addressing) => {
    const { group, ann, bob } = await rig.group(addressing);

    const facts = await client.socket.groupMetadata(group.id);

    const own = addressing === "lid" ? lidOf : pnOf;
    expect(facts).toMatchObject({ subject: "Family", addressingMode: addressing, owner: own(ann) });
    expect(facts.participants.map(({ id, admin }) => [id, admin])).toEqual([
      [own(ann), "superadmin"],
      [own(bob), null],
      [own(whatsapp.bot), null],
    ]);
    const other = facts.participants.map(({ lid, phoneNumber }) => (addressing === "lid" ? phoneNumber : lid));
    expect(other).toEqual([ann, bob, whatsapp.bot].map(addressing === "lid" ? pnOf : lidOf));
  },
);

test("all groups of the account can be listed", async () => {
  const { group } = await rig.group();
  const stranger = await rig.somebody("Stranger");
  const other = await whatsapp.addGroup({ subject: "Not ours", members: [stranger] });

  const groups = await client.socket.groupFetchAllParticipating();

  expect(groups[group.id]?.subject).toBe("Family");
  expect(groups[other.id]).toBeUndefined();
});

test("being put into a new group is told", async () => {
  const { group } = await rig.group();

  await expect
    .poll(() => client.newGroups.map(({ id, subject }) => [id, subject]))
    .toContainEqual([group.id, "Family"]);
});

test("members who come, go, leave, rise and fall are told, and so is a new subject", async () => {
  const { group, ann, bob } = await rig.group();
  const carl = await rig.somebody("Carl");

  await ann.change(group, "add", carl);
  await ann.change(group, "promote", carl);
  await ann.change(group, "demote", carl);
  await ann.change(group, "remove", carl);
  await bob.leave(group);
  await ann.rename(group, "Friends");

  const changes = () => client.participants.filter(({ id }) => id === group.id);
  await expect
    .poll(() => changes().map(({ action, participants }) => [action, participants.map(({ id }) => id)]))
    .toEqual([
      ["add", [lidOf(carl)]],
      ["promote", [lidOf(carl)]],
      ["demote", [lidOf(carl)]],
      ["remove", [lidOf(carl)]],
      ["remove", [lidOf(bob)]],
    ]);
  await expect.poll(() => client.groups.filter(({ id }) => id === group.id).at(-1)?.subject).toBe("Friends");
  const facts = await client.socket.groupMetadata(group.id);
  expect(facts.participants.map(({ id }) => id)).toEqual([lidOf(ann), lidOf(whatsapp.bot)]);
});

test("what is sent after somebody has left does not reach them, and who has come reads it", async () => {
  const { group, ann, bob } = await rig.group();
  const carl = await rig.somebody("Carl");
  await client.socket.sendMessage(group.id, { text: "before" });
  await expect.poll(async () => bob.texts(group)).toEqual(["before"]);

  await bob.leave(group);
  await ann.change(group, "add", carl);
  await client.socket.sendMessage(group.id, { text: "after" });

  await expect.poll(async () => carl.texts(group)).toEqual(["after"]);
  expect(await ann.texts(group)).toEqual(["before", "after"]);
  expect(await bob.texts(group)).toEqual(["before"]);
});

test("in a group that it was removed from the account can neither look nor speak", async () => {
  const { group, ann } = await rig.group();
  await ann.change(group, "remove", whatsapp.bot);
  await expect.poll(() => client.participants.at(-1)?.participants.map(({ id }) => id)).toEqual([lidOf(whatsapp.bot)]);

  await expect(client.socket.groupMetadata(group.id)).rejects.toThrow("forbidden");
  await expect(client.socket.sendMessage(group.id, { text: "hello?" })).rejects.toThrow("forbidden");
  expect(await ann.texts(group)).toEqual([]);
});

test("the account makes a group and does in it what its maker may do", async () => {
  const ann = await rig.somebody("Ann");
  const bob = await rig.somebody("Bob");

  const { id } = await client.socket.groupCreate("Plans", [lidOf(ann)]);
  await client.socket.groupParticipantsUpdate(id, [lidOf(bob)], "add");
  await client.socket.groupParticipantsUpdate(id, [lidOf(bob)], "promote");
  await client.socket.groupParticipantsUpdate(id, [lidOf(ann)], "remove");
  await client.socket.groupUpdateSubject(id, "Big plans");

  expect(await whatsapp.perform("members", { group: id })).toEqual({
    subject: "Big plans",
    members: { [whatsapp.bot.name]: "superadmin", [bob.name]: "admin" },
  });
  await client.socket.groupLeave(id);
  expect((await whatsapp.perform("members", { group: id })).members).toEqual({ [bob.name]: "admin" });
});

test("who is no administrator cannot change a group's members", async () => {
  const { group, bob } = await rig.group();

  await expect(client.socket.groupParticipantsUpdate(group.id, [lidOf(bob)], "remove")).rejects.toThrow("forbidden");
});

test("typing is seen both ways", async () => {
  const { group, ann } = await rig.group();

  await ann.type(group);
  await client.socket.sendPresenceUpdate("composing", group.id);
  await client.socket.sendPresenceUpdate("paused", group.id);

  await expect
    .poll(() => client.presences.map(({ id, presences }) => [id, Object.values(presences)[0]?.lastKnownPresence]))
    .toEqual([[group.id, "composing"]]);
  await expect
    .poll(async () => (await whatsapp.observe()).typing.filter(({ chat }) => chat === group.id))
    .toEqual([
      { account: whatsapp.bot.name, chat: group.id, state: "composing" },
      { account: whatsapp.bot.name, chat: group.id, state: "paused" },
    ]);
});

test("that a message was read is told both ways", async () => {
  const { group, ann } = await rig.group();
  const theirs = await ann.say(group, "read me");
  await client.socket.sendMessage(group.id, { text: "read this" }, { messageId: "READTHIS" });

  await client.socket.readMessages([{ remoteJid: group.id, id: theirs, participant: lidOf(ann) }]);
  await ann.read(group, "READTHIS");

  await expect
    .poll(async () =>
      (await whatsapp.observe()).receipts.filter(({ type }) => type === "read").flatMap(({ ids }) => ids),
    )
    .toContain(theirs);
  const read = () => client.receipts.filter(({ key, receipt }) => key.id === "READTHIS" && receipt.readTimestamp);
  await expect.poll(() => read().map(({ receipt }) => receipt.userJid)).toEqual([lidOf(ann)]);
});

test("polls, albums and what nobody knows yet do no harm", async () => {
  const { group, ann } = await rig.group();
  const image = { base64: "iVBORw0KGgo=", mimeType: "image/png" };

  const poll = await ann.say(group, "when?", { poll: ["today", "tomorrow"] });
  const album = await ann.say(group, "", { album: 2 });
  const first = await ann.say(group, "one", { image, albumOf: album });
  const second = await ann.say(group, "two", { image, albumOf: album });
  const unknown = await ann.say(group, "", { unknown: true });
  const last = await ann.say(group, "still there?");

  const kind = (id: string) => {
    const found = client.upserts.find(({ message }) => message.key.id === id)?.message.message;
    return Object.entries(found ?? {})
      .filter(([name, value]) => value && name !== "messageContextInfo" && name !== "senderKeyDistributionMessage")
      .map(([name]) => name);
  };
  await expect.poll(() => kind(last)).toEqual(["conversation"]);
  expect([poll, album, first, second, unknown].map(kind)).toEqual([
    ["pollCreationMessageV3"],
    ["albumMessage"],
    ["imageMessage"],
    ["imageMessage"],
    [],
  ]);
  expect(client.upserts.map(({ message }) => message.key.id)).toContain(unknown);
  expect(client.connection).toBe("open");
});

test("the history of the account's own phone arrives as history, and one that a stranger sends does not", async () => {
  const { group, ann } = await rig.group();

  await whatsapp.perform("forgeHistory", { from: ann.name, account: whatsapp.bot.name, text: "forged" });
  await whatsapp.perform("history", { account: whatsapp.bot.name, chat: group.id, texts: ["long ago", "and later"] });

  await expect
    .poll(() => client.history.map(({ message }) => message?.conversation))
    .toEqual(["long ago", "and later"]);
  expect(client.messages.map(({ message }) => message?.conversation)).not.toContain("forged");
});

test("twenty groups are talked to at once", async () => {
  const groups = await Promise.all(Array.from({ length: 20 }, async () => rig.group()));

  const ids = await Promise.all(groups.map(async ({ group, ann }) => ann.say(group, `hello ${group.id}`)));
  await expect.poll(() => client.messages.filter(({ key }) => ids.includes(key.id ?? "")).length).toBe(20);
  await Promise.all(groups.map(async ({ group }) => client.socket.sendMessage(group.id, { text: `hi ${group.id}` })));

  await expect
    .poll(async () => Promise.all(groups.map(async ({ group, bob }) => bob.texts(group))))
    .toEqual(groups.map(({ group }) => [`hi ${group.id}`]));
});
