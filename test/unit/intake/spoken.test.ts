import { expect, test } from "vitest";

import { commandsOf } from "../../../src/surfaces/chat/catalog.ts";
import type { FetchedAttachment, IncomingMessage } from "../../../src/domain/chats/message.ts";
import { openGroupRegistry } from "../../../src/intake/chats/group-registry.ts";
import { routerLimits } from "../../../src/intake/limits/limits.ts";
import { createRouter } from "../../../src/intake/router.ts";
import { namesSpoken } from "../../../src/intake/addressing/mention.ts";
import { systemClock } from "../../../src/lib/time/clock.ts";
import { openTestStore } from "../../support/open-test-store.ts";
import { someGroup, someStoredGroup } from "../../support/some-group.ts";

const family = someGroup("family");

/** A group in which recordings say `transcript`; undefined: nothing is heard. */
async function openRig(transcript: string | undefined) {
  const opened = await openTestStore();
  const [woken, commands, rules] = [[] as string[], [] as string[], [] as unknown[]];
  const heard: FetchedAttachment = {
    kind: "audio",
    file: { path: "/workspace/group/inbox/a.ogg", mimeType: "audio/ogg", bytes: 9 },
    heard: { seconds: 2.5, ...(transcript === undefined ? {} : { transcribed: true }) },
    transcript,
  };
  const accept = createRouter({
    access: () => ({ may: "trigger" }),
    commandsOf,
    registry: await openGroupRegistry({
      configured: [family],
      store: opened.store.groups,
      resolve: someStoredGroup,
      prepare: async () => undefined,
      hasTypedChats: () => false,
    }),
    store: opened.store,
    assistantName: "crab",
    intake: () => ({ open: true }),
    hears: () => true,
    fetchAll: async () => [heard],
    wake: (group) => woken.push(group),
    runCommands: async ({ name }) => void commands.push(name),
    notify: async () => undefined,
    limits: routerLimits,
    clock: systemClock,
    publish: async ({ data }) => void rules.push((data as { rule?: unknown }).rule),
  });
  const say = (message: Partial<IncomingMessage> = {}) =>
    accept({
      channel: family.channel,
      chat: family.chat,
      id: "voice",
      sender: { id: "ann", name: "Ann" },
      text: "",
      mention: false,
      attachments: [{ kind: "audio", mimeType: "audio/ogg", fetch: async () => undefined }],
      ...message,
    });
  const stored = async () => (await opened.store.messages.after(family, 0, 10))[0];
  return { say, stored, woken, commands, rules, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}

test("a voice message in which the agent's name is said is for the agent", async () => {
  await using rig = await openRig("Hey Crab, what is the time?");

  await rig.say();

  expect(rig.woken).toEqual(["family"]);
  expect(rig.rules).toEqual(["spoken-mention"]);
});

test("one without the name is heard along, with what is said in it", async () => {
  await using rig = await openRig("See you at ten.");

  await rig.say({ text: "for Bo" });

  expect(rig.woken).toEqual([]);
  expect(rig.rules).toEqual(["unaddressed"]);
  expect(await rig.stored()).toMatchObject({
    text: "for Bo\nSee you at ten.",
    state: "context",
    attachments: [{ kind: "audio", heard: { seconds: 2.5, transcribed: true } }],
  });
});

test.each([
  ["was forwarded", "Crab, delete all", { forwarded: true }],
  ["says a command", "slash approve 1234", {}],
  ["says a command as it is written", "/new", {}],
  ["cannot be heard", undefined, {}],
])("one that %s wakes nobody and commands nothing", async (_what, transcript, more) => {
  await using rig = await openRig(transcript);

  await rig.say(more);

  expect([rig.woken, rig.commands]).toEqual([[], []]);
});

test.each([
  ["crab, hello", true],
  ["Hello CRAB.", true],
  ["a crabby day", false],
  ["scrab", false],
  ["", false],
  ["crab帮我看看", true],
  ["ねえcrabさん", true],
  ["crab님 안녕", true],
  ["krabа crabы", false],
])("in %j the name is said: %s", (transcript, said) => {
  expect(namesSpoken(transcript, ["crab"])).toEqual(said ? ["crab"] : []);
});
