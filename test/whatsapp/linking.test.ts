import { expect, test } from "vitest";

import { shareServerProcess } from "../support/whatsapp/fake-whatsapp.ts";
import { WhatsAppRig } from "../support/whatsapp-rig.ts";

shareServerProcess();

test("an account is linked by scanning a code, and is still linked after a restart", async () => {
  await using rig = await WhatsAppRig.open();
  await expect.poll(() => rig.channel.state().state).toBe("logged-out");
  const before = rig.channel.state();

  const events = await rig.link();
  await rig.stop();
  await rig.start();

  expect(before.detail).toContain("channels login whatsapp");
  expect(rig.alarms).toEqual([]);
  expect(Object.keys(events[0] ?? {})).toEqual(["qr"]);
  expect(events.at(-1)).toMatchObject({ state: "open" });
  await expect.poll(() => rig.channel.state().state).toBe("open");
  expect(rig.channel.state().detail).toContain("test server");
});

test("an account is linked by a code that is typed on the phone", async () => {
  await using rig = await WhatsAppRig.open();

  const events = await rig.link(rig.whatsapp.bot.pn);

  expect(events).toEqual([
    { pairingCode: expect.stringMatching(/^[A-Z0-9]{8}$/) as string },
    expect.objectContaining({ state: "open" }),
  ]);
});

test("who asks to link an account that is linked is told its state", async () => {
  await using rig = await WhatsAppRig.linked();

  expect(await rig.link()).toMatchObject([{ state: "open" }]);
});

test("while nobody links an account there is no process and no connection, and one who leaves takes the codes along", async () => {
  await using rig = await WhatsAppRig.open();
  const leave = new AbortController();
  let shown = 0;

  for await (const event of rig.channel.login(leave.signal)) {
    if (!("qr" in event)) continue;
    shown += 1;
    leave.abort();
  }

  expect(shown).toBe(1);
  await expect.poll(async () => (await rig.whatsapp.observe()).connections).toBe(0);
  await expect.poll(() => rig.channel.state().state).toBe("logged-out");
});

test("a server whose certificate comes from another root is refused", async () => {
  await using rig = await WhatsAppRig.open({ settings: { rootPublicKey: "11".repeat(32) } });

  const events = await rig.link();

  expect(events).toMatchObject([{ state: "logged-out", detail: expect.stringContaining("certificate") as string }]);
});

test("a server whose root is the one that was given is believed", async () => {
  await using rig = await WhatsAppRig.open();
  await rig.stop();
  await rig.start({ settings: { rootPublicKey: rig.whatsapp.root.toString("hex") } });

  const events = await rig.link();

  expect(events.at(-1)).toEqual({ state: "open", detail: `account +${rig.whatsapp.bot.pn}` });
});
