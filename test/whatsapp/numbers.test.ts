import { expect, test } from "vitest";

import { shareServerProcess } from "../support/whatsapp/fake-whatsapp.ts";
import { WhatsAppRig } from "../support/whatsapp-rig.ts";

shareServerProcess();

/** Ann and Bob and a group of which the server says only one of their names. */
async function oneNamed(rig: WhatsAppRig, addressing: "lid" | "pn") {
  const ann = await rig.whatsapp.addUser({ name: "Ann", pn: "15550000011", lid: "90000000000011" });
  const bob = await rig.whatsapp.addUser({ name: "Bob", pn: "15550000012", lid: "90000000000012" });
  const members = [ann, bob, rig.whatsapp.bot];
  const group = await rig.whatsapp.addGroup({ subject: "One name", members, addressing, oneName: true });
  return { ann, bob, group };
}

/** Requests to WhatsApp, except the library's about the account itself. */
async function lookUps(rig: WhatsAppRig) {
  const all = (await rig.whatsapp.observe()).lookUps;
  return all.filter((numbers) => numbers.join() !== rig.whatsapp.bot.pn);
}

const known = (rig: WhatsAppRig, id: string) => rig.aliases.keysOf({ channel: "whatsapp", id });

for (const addressing of ["lid", "pn"] as const) {
  test(`in a group with addressing ${addressing} a member is known by both ids before the first message is offered`, async () => {
    const seen: (readonly string[])[] = [];
    await using rig = await WhatsAppRig.linked({
      accept: async ({ sender }) => {
        seen.push([sender.id, ...known(rig, sender.id)].toSorted());
        return { outcome: "stored", duplicate: false };
      },
    });
    const { ann, group } = await rig.family(addressing);

    await ann.say(group, "hello");
    await expect.poll(() => seen.length).toBe(1);

    const both = ["whatsapp:+15550000011", "whatsapp:15550000011@s.whatsapp.net"];
    expect(seen).toEqual([["90000000000011@lid", ...both]]);
    expect(await lookUps(rig)).toEqual([]);
  });
}

test("a number that the configuration names is looked up before a message that comes by LID alone is offered, once", async () => {
  const seen: (readonly string[])[] = [];
  await using rig = await WhatsAppRig.linked({
    accept: async ({ sender }) => {
      seen.push(known(rig, sender.id));
      return { outcome: "stored", duplicate: false };
    },
  });
  const { ann, bob, group } = await oneNamed(rig, "lid");
  // As when the configuration is changed while the channel is open; nobody has the second one.
  rig.named = ["+15550000012", "+15559999999"];

  await bob.say(group, "hello");
  await expect.poll(() => seen.length).toBe(1);
  await ann.say(group, "hello");
  await bob.say(group, "again");
  await expect.poll(() => seen.length).toBe(3);

  const asBob = ["whatsapp:15550000012@s.whatsapp.net", "whatsapp:+15550000012"];
  expect(seen).toEqual([asBob, [], asBob]);
  expect(await lookUps(rig)).toEqual([["15550000012", "15559999999"]]);
});

test("who writes by number is looked up when the configuration names LIDs", async () => {
  const seen: string[] = [];
  await using rig = await WhatsAppRig.linked({
    accept: async ({ sender }) => {
      seen.push(...known(rig, sender.id), sender.id);
      return { outcome: "stored", duplicate: false };
    },
  });
  const { bob, group } = await oneNamed(rig, "pn");
  rig.named = ["90000000000012@lid"];

  await bob.say(group, "hello");
  await expect.poll(() => seen.length).toBeGreaterThan(0);

  expect(seen).toContain("90000000000012@lid");
});

test.for(["refuse", "mute"] as const)(
  "where WhatsApp does not say (%s), the message is offered all the same, and the log says of whom nothing is known",
  async (lidLookUp) => {
    await using rig = await WhatsAppRig.linked();
    const { bob, group } = await oneNamed(rig, "lid");
    await rig.whatsapp.fault({ lidLookUp });
    rig.named = ["+15550000012"];

    await bob.say(group, "hello");
    await expect.poll(() => rig.accepted.length, { timeout: 120_000 }).toBe(1);

    expect(known(rig, "90000000000012@lid")).toEqual([]);
    expect(rig.log).toMatch(/"numbers":\["\+15550000012"\].*does not say which LIDs/);
  },
);

test("who is who is known after a restart, before anything is connected", async () => {
  await using rig = await WhatsAppRig.linked();
  const { ann, group } = await rig.family();
  await ann.say(group, "hello");
  await expect.poll(() => rig.accepted.length).toBe(1);
  await rig.stop();

  await rig.loadAliases();

  expect(known(rig, "+15550000011")).toContain("whatsapp:90000000000011@lid");
  await rig.start();
});
