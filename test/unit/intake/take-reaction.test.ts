import { expect, test } from "vitest";

import type { IntakeState } from "../../../src/channels/channel.ts";
import type { IncomingReaction } from "../../../src/domain/chats/message.ts";
import { createTakeReaction } from "../../../src/intake/take-reaction.ts";
import type { Hearing } from "../../../src/rights/people/hearing.ts";
import { someGroup } from "../../support/some-group.ts";

const family = someGroup("family", { channel: "http", chat: "chat-1" });
const reaction: IncomingReaction = {
  channel: "http",
  chat: "chat-1",
  id: "r1",
  sender: { id: "ann", name: "Ann" },
  seq: 7,
  emoji: "👍",
};

function openRig(hearing: Hearing = { may: "trigger" }, intake: IntakeState = { open: true }) {
  const answered: unknown[] = [];
  const take = createTakeReaction({
    registry: {
      find: (channel, chat) => (channel === "http" && ["chat-1", "family"].includes(chat) ? family : undefined),
    },
    intake: () => intake,
    retryAfterS: 5,
    access: () => hearing,
    answer: async (group, { chat, id }, trigger) => {
      answered.push([group.name, chat, id, trigger]);
      return { duplicate: id === "again" };
    },
  });
  return { take, answered };
}

test("a reaction in a group is answered there, whichever way the group was found; one that comes again is told as such", async () => {
  const { take, answered } = openRig();

  expect(await take(reaction)).toEqual({ outcome: "stored", duplicate: false });
  expect(await take({ ...reaction, chat: "family", id: "again" })).toEqual({ outcome: "stored", duplicate: true });
  expect(answered).toEqual([
    ["family", "chat-1", "r1", undefined],
    ["family", "chat-1", "again", undefined],
  ]);
});

test("nothing comes of one in a chat that is no group, of somebody who is not heard, or of one with an endless id", async () => {
  const heard = openRig();
  const denied = openRig({ may: "nothing", setting: "access.deny" });

  expect(await heard.take({ ...reaction, chat: "other" })).toEqual({ outcome: "unknown-chat" });
  expect(await heard.take({ ...reaction, id: "x".repeat(1_025) })).toMatchObject({ outcome: "stored" });
  expect(await heard.take({ ...reaction, sender: { id: "x".repeat(1_025), name: "" } })).toMatchObject({
    outcome: "stored",
  });
  expect(await denied.take(reaction)).toEqual({ outcome: "stored", duplicate: false });
  expect([...heard.answered, ...denied.answered]).toEqual([]);
});

test("of somebody who is only read along it is told which role they would need", async () => {
  const { take, answered } = openRig({ may: "speak", needed: "admin" });

  await take(reaction);

  expect(answered).toEqual([["family", "chat-1", "r1", "admin"]]);
});

test("while nothing is taken in, reactions are not either", async () => {
  const { take, answered } = openRig(undefined, { open: false, code: "disk-full", reason: "the disk is full" });

  expect(await take(reaction)).toEqual({
    outcome: "refused",
    code: "disk-full",
    reason: "the disk is full",
    retryAfterS: 5,
    stopped: true,
  });
  expect(answered).toEqual([]);
});
