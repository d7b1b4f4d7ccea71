import type { WAMessage } from "@whiskeysockets/baileys";
import { expect, test } from "vitest";

import { translate } from "../../../../src/channels/whatsapp/worker/translate.ts";
import { personFault } from "../../../../src/channels/whatsapp/person-id.ts";

const group = "120363041234567890@g.us";

function inGroup(participant: string | undefined, participantAlt?: string): Promise<unknown> {
  const message = {
    key: { remoteJid: group, id: "A1", fromMe: false, participant, participantAlt },
    message: { conversation: "hello" },
  };
  return translate(message as WAMessage, {
    me: { pn: "491700000000@s.whatsapp.net", lid: "1@lid", name: undefined } as never,
    isOwn: () => Promise.resolve(false),
    lidOf: () => Promise.resolve(undefined),
  });
}

test.for([
  ["the group's own id", group],
  ["another group's id", "120363049999999999@g.us"],
  ["a group's id with a device", "120363041234567890:3@g.us"],
  ["the id of a list", "1234@broadcast"],
  ["the id of a channel", "1234@newsletter"],
  ["the status", "status@broadcast"],
  ["nothing", undefined],
] as const)("a message in a group whose sender is %s has no sender, and is not taken", async ([, participant]) => {
  expect(await inGroup(participant)).toBeUndefined();
});

test("a group's id beside a person's is left out: the person is the sender", async () => {
  expect(await inGroup(group, "491711111111@s.whatsapp.net")).toMatchObject({ sender: "491711111111@s.whatsapp.net" });
  expect(await inGroup("77@lid", group)).toMatchObject({ sender: "77@lid", senderAlias: undefined });
});

test("a group's id in the configuration is nobody's", () => {
  expect(personFault(group)).toMatch(/./);
});
