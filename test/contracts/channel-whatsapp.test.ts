import { describe, expect } from "vitest";

import type { ChannelStateStore } from "../../src/stores/contract/store.ts";
import { type FakeGroup, type FakeUser, shareServerProcess } from "../support/whatsapp/fake-whatsapp.ts";
import { WhatsAppRig } from "../support/whatsapp-rig.ts";
import { type ChannelDriver, testChannel } from "./channel.ts";

shareServerProcess();

/** The channel of an account that is linked already, with two people and two groups on a server of the test's own. */
async function openWhatsApp(): Promise<ChannelDriver> {
  let beforeKept: (() => Promise<void>) | undefined;
  const rig = await WhatsAppRig.linked({ around: (store) => keptLater(store, async () => beforeKept?.()) });
  const { whatsapp } = rig;
  const you = await whatsapp.addUser({ name: "you", pn: "15550000011", lid: "90000000000011" });
  const anna = await whatsapp.addUser({ name: "anna", pn: "15550000012", lid: "90000000000012" });
  const members = [you, anna, whatsapp.bot];
  const groups = [
    await whatsapp.addGroup({ subject: "main", members }),
    await whatsapp.addGroup({ subject: "family", members }),
  ];
  const group = (name: string): FakeGroup => find(groups, ({ subject }) => subject === name);
  const member = (name: string): FakeUser => find([you, anna], (user) => user.name === name);
  // What comes before the keys of its sender is asked for again, and is later than what was said after it.
  await you.say(group("main"), "hello");
  await anna.say(group("family"), "hello");
  await expect.poll(() => rig.accepted.length).toBe(2);
  // What the server is not told about before the end comes again.
  await expect.poll(async () => (await whatsapp.observe()).pending[whatsapp.bot.name]).toEqual([]);
  await rig.stop();
  const received = async (id: string): Promise<boolean> =>
    (await whatsapp.observe()).receipts.some(({ ids }) => ids.includes(id));
  const channel = rig.create();
  return {
    channel,
    chat: (name) => group(name).id,
    sender: (name) => ({ id: `${member(name).lid}@lid`, name }),
    beforeKept: (hook) => (beforeKept = hook),
    async say(spoken) {
      const said: string[] = [];
      for (const { group: where, member: who, text } of spoken) said.push(await member(who).say(group(where), text));
      // Without a connection nobody can be told.
      if (channel.state().state !== "closed") {
        const last = said.at(-1) ?? "";
        // It may be closed meanwhile, and then it acknowledges nothing more.
        await expect.poll(async () => (await received(last)) || channel.state().state === "closed").toBe(true);
      }
      return Promise.all(said.map(received));
    },
    async react({ group: where, member: who, seq, emoji }) {
      const own = [...(await you.inbox())].filter(({ content }) => content.kind === "text")[seq - 1]?.id ?? "";
      const id = await member(who).say(group(where), emoji, { reactTo: own });
      await expect.poll(async () => (await received(id)) || channel.state().state === "closed").toBe(true);
      return received(id);
    },
    heard: () => you.texts(group("main")),
    heardQuoting: async () => (await you.inbox()).map(({ content }) => content.about),
    heardAloud: async () =>
      Promise.all(
        (await you.inbox()).map(async ({ id, content }) => (content.kind === "voice" ? whatsapp.file(id) : undefined)),
      ),
    cut: async () => {
      await whatsapp.cut();
      await expect.poll(() => channel.state().state).toBe("connecting");
    },
    async [Symbol.asyncDispose]() {
      await channel[Symbol.asyncDispose]();
      await rig[Symbol.asyncDispose]();
    },
  };
}

/** The store, but one in which a message takes its time until it is on disk. */
function keptLater(store: ChannelStateStore, hook: () => Promise<void>): ChannelStateStore {
  return {
    read: (space, keys) => store.read(space, keys),
    list: (space) => store.list(space),
    rename: (space, to) => store.rename(space, to),
    apply: async (space, changes) => {
      const isMessage = space.endsWith("/journal") && [...changes.values()].some((value) => value !== null);
      if (isMessage) await hook();
      await store.apply(space, changes);
    },
  };
}

function find<Item>(items: readonly Item[], isWanted: (item: Item) => boolean): Item {
  const found = items.find(isWanted);
  if (found === undefined) throw new Error("there is no such group or member");
  return found;
}

describe("the WhatsApp channel", () => {
  testChannel(openWhatsApp, {
    keeps: true,
    offersAgain: true,
    connected: true,
    quotes: true,
    voice: true,
    hearsReactions: true,
  });
});
