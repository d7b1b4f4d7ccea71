import { expect, test, vi } from "vitest";

import { groupOf } from "../support/model-host.ts";
import { AppRig } from "../support/whatsapp/app-rig.ts";

// Several starts of the host, or several containers, in one test.
vi.setConfig({ testTimeout: 600_000 });

const keyWords = /privKey|currentRatchet|rootKey|noiseKey|signedPreKey|<Buffer/;

test("an account that is linked by QR code is spoken to in both kinds of groups, in every way of mentioning the agent", async () => {
  await using rig = await AppRig.start(({ messages }) => ({ text: `answer ${messages.length}` }), { pnGroup: true });
  const { ann, bob, whatsapp, family } = rig;
  const numbered = rig.groups[1] ?? family;
  const bot = [whatsapp.bot.name];

  await ann.say(family, "just among us");
  await ann.say(family, "@90000000000001 by LID", { mention: bot });
  await expect.poll(async () => ann.texts(family)).toHaveLength(1);
  await bob.say(family, "@crab by name");
  await expect.poll(async () => ann.texts(family)).toHaveLength(2);
  const answer = (await ann.inbox()).at(-1)?.id;
  await bob.say(family, "by answering", { quote: answer ?? "" });
  await ann.say(numbered, "@15550000001 by number", { mention: bot });
  await expect.poll(async () => ann.texts(family)).toHaveLength(3);
  await expect.poll(async () => bob.texts(numbered)).toHaveLength(1);

  expect(rig.model.requests).toHaveLength(4);
  expect(rig.model.requests[0]?.lastText).toMatch(/just among us[\s\S]*by LID/);
  expect(await bob.texts(family)).toEqual(await ann.texts(family));
  expect(await rig.host.cli("channels", "list", "--json")).toMatchObject({
    stdout: expect.stringContaining('"open"') as string,
  });
  const written = await rig.written();
  expect(written).toContain("the gateway listens");
  expect(written).not.toMatch(keyWords);
  const secrets = rig.secrets();
  expect(secrets.length).toBeGreaterThan(100);
  expect(secrets.filter((secret) => written.includes(secret))).toEqual([]);
});

test("an answer quotes its question where others have spoken in between, and only there", async () => {
  const gate = Promise.withResolvers<void>();
  await using rig = await AppRig.start(async ({ lastText }) => {
    if (lastText.includes("when do we leave?")) await gate.promise;
    return { text: "At nine." };
  });
  const { ann, bob, family, whatsapp } = rig;

  const asked = await ann.say(family, "@crab when do we leave?");
  await expect.poll(() => rig.model.requests.length).toBe(1);
  const between = await bob.say(family, "Has anybody seen my boots?");
  const isTaken = async (): Promise<boolean> =>
    (await whatsapp.observe()).receipts.some(({ ids }) => ids.includes(between));
  await expect.poll(isTaken).toBe(true);
  gate.resolve();
  await expect.poll(() => bob.texts(family)).toEqual(["At nine."]);
  await ann.say(family, "@crab sure?");
  await expect.poll(() => bob.texts(family)).toEqual(["At nine.", "At nine."]);

  const answers = (await bob.inbox()).map(({ content }) => content).filter(({ text }) => text === "At nine.");
  expect(answers.map(({ about }) => about)).toEqual([asked, undefined]);
  expect(answers[0]?.quoted).toEqual({ text: "@crab when do we leave?", author: `${ann.lid}@lid` });
});

test("an account that is linked by a code on the phone answers a member", async () => {
  await using rig = await AppRig.start(() => ({ text: "Hello!" }), { unlinked: true });
  const { ann, family, whatsapp } = rig;

  await rig.link("--phone", whatsapp.bot.pn);
  await ann.say(family, "@crab hello");

  await expect.poll(async () => ann.texts(family)).toEqual(["Hello!"]);
});

test.each(["cut", "lost"] as const)(
  "every member has an answer once when the line breaks before it is acknowledged (%s)",
  async (message) => {
    await using rig = await AppRig.start(() => ({ text: "once" }));
    const { ann, bob, family, whatsapp } = rig;
    await whatsapp.fault({ message, messageCount: 1 });

    await ann.say(family, "@crab hello");

    await expect.poll(async () => (await whatsapp.observe()).sends.map(({ fault }) => fault)).toEqual([message, null]);
    await expect.poll(async () => [await ann.texts(family), await bob.texts(family)]).toEqual([["once"], ["once"]]);
    await expect.poll(async () => (await whatsapp.observe()).pending[whatsapp.bot.name]).toEqual([]);
    expect(new Set((await whatsapp.observe()).sends.map(({ id }) => id)).size).toBe(1);
    expect(rig.model.requests).toHaveLength(1);
  },
);

test("what members said while the host was away is answered once, however often it is delivered", async () => {
  await using rig = await AppRig.start(() => ({ text: "here again" }));
  const { ann, family, host, whatsapp } = rig;
  await host.end("SIGTERM");
  const id = await ann.say(family, "@crab are you there?");

  await host.boot();
  await expect.poll(async () => ann.texts(family)).toEqual(["here again"]);
  await whatsapp.repeat(id);
  await whatsapp.cut();
  await expect.poll(async () => (await whatsapp.observe()).online).toEqual([whatsapp.bot.name]);
  await whatsapp.repeat(id);
  await expect.poll(async () => (await whatsapp.observe()).pending[whatsapp.bot.name]).toEqual([]);
  await ann.say(family, "@crab and now?");

  await expect.poll(async () => ann.texts(family)).toEqual(["here again", "here again"]);
  expect(rig.model.requests).toHaveLength(2);
});

test("another session that takes over is not fought, and an account that is banned or removed is not tried again", async () => {
  await using rig = await AppRig.start(() => ({ text: "ok" }), { httpGroup: true });
  const { ann, family, host, whatsapp } = rig;
  const logins = async () => (await whatsapp.observe()).logins.length;
  const before = await logins();

  await whatsapp.endStream(440);
  await expect.poll(async () => rig.state()).toBe("conflict");
  await host.ask("elsewhere", "@crab hello");
  const meanwhile = await logins();
  await whatsapp.fault({ loginFailure: 403 });
  await host.end("SIGTERM");
  await host.boot();
  await expect.poll(async () => rig.state()).toBe("closed");
  await whatsapp.fault({ loginFailure: null });
  await host.ask("elsewhere", "@crab hello again");
  const banned = await logins();
  await whatsapp.perform("unlink", { account: whatsapp.bot.name });
  await host.end("SIGTERM");
  await host.boot();
  await expect.poll(async () => rig.state()).toBe("logged-out");
  await host.ask("elsewhere", "@crab and again");

  expect([meanwhile, banned]).toEqual([before, before]);
  expect((await whatsapp.observe()).connections).toBe(0);
  await rig.link();
  await ann.say(family, "@crab and you?");
  await expect.poll(async () => ann.texts(family)).toEqual(["ok"]);
});

test("a server that is busy, wants a restart or refuses a login for a while is connected to again", async () => {
  await using rig = await AppRig.start(() => ({ text: "ok" }));
  const { ann, family, whatsapp } = rig;
  const logins = async () => (await whatsapp.observe()).logins.length;
  const before = await logins();

  await whatsapp.endStream(515);
  await expect.poll(logins).toBe(before + 1);
  await whatsapp.endStream(503);
  await expect.poll(logins).toBe(before + 2);
  await whatsapp.fault({ loginFailure: 503 });
  await whatsapp.cut();
  await expect.poll(async () => rig.state()).toBe("connecting");
  await whatsapp.fault({ loginFailure: null });
  await expect.poll(logins).toBe(before + 3);
  await ann.say(family, "@crab still there?");

  await expect.poll(async () => ann.texts(family)).toEqual(["ok"]);
  expect(await rig.state()).toBe("open");
});

test("twenty groups that speak at once are all answered, each with its own answer", async () => {
  await using rig = await AppRig.start((request) => ({ text: `for ${groupOf(request)}` }), { moreGroups: 19 });
  const { ann, groups } = rig;

  await Promise.all(groups.map(async (group) => ann.say(group, "@crab hello")));

  await expect
    .poll(async () => Promise.all(groups.map(async (group) => ann.texts(group))), { timeout: 300_000 })
    .toEqual(groups.map(({ subject }) => [`for ${subject}`]));
  expect(rig.model.requests).toHaveLength(20);
});
