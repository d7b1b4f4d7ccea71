import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { shareServerProcess } from "../support/whatsapp/fake-whatsapp.ts";
import { outgoing, WhatsAppRig } from "../support/whatsapp-rig.ts";

shareServerProcess();

test("a reply is written as WhatsApp writes it, names members, and reaches everybody once", async () => {
  await using rig = await WhatsAppRig.linked();
  const { ann, bob, group } = await rig.family();
  const asked = await ann.say(group, "hi");
  await bob.say(group, "hi");
  await expect.poll(() => rig.accepted.length).toBe(2);

  await rig.channel.signal(group.id, "working");
  await rig.send(outgoing(group.id, 1, "**Hello** @ann and `@bob`", { inReplyTo: [asked] }));

  await expect.poll(() => bob.texts(group)).toEqual([`*Hello* @${ann.lid} and \`@bob\``]);
  expect((await ann.inbox())[0]).toMatchObject({
    id: expect.stringMatching(/^3EB0[0-9A-F]{18}$/) as string,
    content: { mentions: [`${ann.lid}@lid`] },
  });
  await expect.poll(() => rig.delivered).toEqual([1]);
  const { receipts, typing } = await rig.whatsapp.observe();
  expect(typing).toMatchObject([{ chat: group.id, state: "composing" }]);
  expect(receipts.filter(({ type }) => type === "read")).toMatchObject([{ chat: group.id, ids: [asked] }]);
});

test("a message is reacted to, and what the agent is doing is one message that is changed in place", async () => {
  await using rig = await WhatsAppRig.linked();
  const { ann, bob, group } = await rig.family();
  const asked = await ann.say(group, "hi");
  await expect.poll(() => rig.accepted.length).toBe(1);
  const sender = rig.accepted[0]?.sender.id ?? "";
  const show = (text: string, over = false) => rig.channel.showProgress(group.id, { id: "turn", text, over });

  await rig.channel.react(group.id, { message: asked, sender, emoji: "👀" });
  await show("Working for 10 s: @bob");
  await show("Working for 20 s");
  await rig.send(outgoing(group.id, 1, "done"));
  await show("Worked for 22 s.", true);

  await expect.poll(async () => (await bob.inbox()).length).toBe(5);
  const [reaction, line, ...others] = await bob.inbox();
  expect(reaction?.content).toMatchObject({ kind: "reaction", text: "👀", about: asked });
  expect(line?.content).toMatchObject({ kind: "text", text: "Working for 10 s: @bob", mentions: [] });
  expect(others.map(({ content }) => [content.kind, content.text, content.about])).toEqual([
    ["edit", "Working for 20 s", line?.id],
    ["text", "done", undefined],
    ["edit", "Worked for 22 s.", line?.id],
  ]);
  // Where nothing was shown there is nothing to change.
  await rig.channel.showProgress(group.id, { id: "other", text: "Worked for 5 s.", over: true });
  expect((await rig.whatsapp.observe()).sends).toHaveLength(5);
});

test.each(["lid", "pn"] as const)(
  "a quote shows whose words it is made of, as the group names its members (%s), on a file as well as on a text",
  async (addressing) => {
    await using rig = await WhatsAppRig.linked();
    await using folder = await temporaryFolder();
    const { ann, bob, group } = await rig.family(addressing);
    const asked = await ann.say(group, "when?");
    await expect.poll(() => rig.accepted.length).toBe(1);
    const quote = { id: asked, sender: rig.accepted[0]?.sender.id ?? "", text: "when?" };
    const path = join(folder.path, "copy");
    await writeFile(path, "the plan");
    const file = { path, name: "plan.pdf", mimeType: "application/pdf", bytes: 8 };

    await rig.send(outgoing(group.id, 1, "At nine.", { quote }));
    await rig.send(outgoing(group.id, 2, "The plan.", { quote, file }));
    await rig.send(outgoing(group.id, 3, "Bye."));

    await expect.poll(async () => (await bob.inbox()).length).toBe(3);
    const author = addressing === "lid" ? `${ann.lid}@lid` : `${ann.pn}@s.whatsapp.net`;
    const quoted = { about: asked, quoted: { text: "when?", author } };
    const [text, document, plain] = (await bob.inbox()).map(({ content }) => content);
    expect(text).toMatchObject({ kind: "text", text: "At nine.", ...quoted });
    expect(document).toMatchObject({ kind: "document", text: "The plan.", ...quoted });
    expect([plain?.text, plain?.about]).toEqual(["Bye.", undefined]);
  },
);

test("a notice of the host mentions nobody, whatever words of strangers it holds", async () => {
  await using rig = await WhatsAppRig.linked();
  const { ann, bob, group } = await rig.family();

  await rig.send(outgoing(group.id, 1, 'Stopped by "x" @ann', { kind: "notice" }));

  await expect.poll(() => bob.texts(group)).toEqual(['Stopped by "x" @ann']);
  expect((await ann.inbox())[0]).toMatchObject({ content: { mentions: [] } });
});

test.each(["cut", "lost"] as const)(
  "after a line that was %s in the middle of a send, each part arrives once",
  async (fault) => {
    await using rig = await WhatsAppRig.linked();
    const { ann, group } = await rig.family();
    const text = `${"first ".repeat(600)}\n\n${"second ".repeat(500)}`;
    const message = outgoing(group.id, 7, text);
    const before = rig.states.length;

    await rig.whatsapp.fault({ message: fault, messageCount: 1 });
    const first = rig.send(message);
    await expect(first).rejects.toMatchObject({ name: "SendError", ambiguous: true, permanent: false });
    await expect.poll(() => rig.states.slice(before).map(({ state }) => state)).toEqual(["connecting", "open"]);
    await rig.send(message);
    await rig.stop();
    await rig.start();
    await expect.poll(() => rig.channel.state().state).toBe("open");
    await rig.send(message);

    const { sends } = await rig.whatsapp.observe();
    const [one, two] = [...new Set(sends.map(({ id }) => id))];
    expect(sends.map(({ id }) => id)).toEqual([one, one, two]);
    await expect.poll(async () => (await ann.texts(group)).length).toBe(2);
    expect((await ann.texts(group)).map((part) => part.slice(0, 6))).toEqual(["first ", "second"]);
  },
);

test("what the server refuses is told: for good, for now, or after another try with fresh devices", async () => {
  await using rig = await WhatsAppRig.linked();
  const { ann, group } = await rig.family();

  await rig.whatsapp.fault({ message: 463, messageCount: 1 });
  await expect(rig.send(outgoing(group.id, 1, "one"))).rejects.toMatchObject({ permanent: true, ambiguous: false });
  await rig.whatsapp.fault({ message: 500, messageCount: 1 });
  await expect(rig.send(outgoing(group.id, 2, "two"))).rejects.toMatchObject({ permanent: false, ambiguous: false });
  await rig.whatsapp.fault({ message: 479, messageCount: 1 });
  await rig.send(outgoing(group.id, 3, "three"));

  await expect.poll(() => ann.texts(group)).toEqual(["three"]);
});

test("files, reactions and long captions arrive, and a member who cannot read a message gets it again", async () => {
  await using rig = await WhatsAppRig.linked();
  await using folder = await temporaryFolder();
  const { ann, bob, group } = await rig.family("pn");
  const path = join(folder.path, "copy");
  await writeFile(path, "the report");
  const said = await bob.say(group, "give me the report");
  await expect.poll(() => rig.accepted.length).toBe(1);
  const file = { path, name: "report.pdf", mimeType: "application/pdf", bytes: 10 };

  await rig.send(outgoing(group.id, 1, "Here it *is*.", { file }));
  await rig.send(outgoing(group.id, 2, "", { file: { ...file, name: "a.png", mimeType: "image/png" } }));
  await rig.send(outgoing(group.id, 3, "x ".repeat(800), { file: { ...file, mimeType: "audio/mpeg" } }));
  await rig.send(outgoing(group.id, 4, "", { reaction: { message: said, sender: `${bob.lid}@lid`, emoji: "👍" } }));
  await expect.poll(async () => (await ann.inbox()).length).toBe(5);
  const [document, ...others] = await ann.inbox();
  await rig.stop();
  await rig.start();
  await expect.poll(() => rig.channel.state().state).toBe("open");
  await ann.askAgain(group, document?.id ?? "");
  await expect
    .poll(async () => (await rig.whatsapp.observe()).sends.filter(({ id }) => id === document?.id).length)
    .toBe(2);

  expect(document?.content).toMatchObject({
    kind: "document",
    text: "Here it _is_.",
    file: { name: "report.pdf", mimeType: "application/pdf" },
  });
  expect((await rig.whatsapp.file(document?.id ?? "")).toString()).toBe("the report");
  expect(others.map(({ content }) => content.kind)).toEqual(["image", "audio", "text", "reaction"]);
  expect(others[3]?.content).toMatchObject({ text: "👍", about: said });
});

test("too much at once has to come back later instead of being sent", async () => {
  await using rig = await WhatsAppRig.linked({ settings: { pacing: { perChatPerSecond: 1_000, perMinute: 2 } } });
  const { ann, group } = await rig.family();

  await rig.send(outgoing(group.id, 1, "one"));
  await rig.send(outgoing(group.id, 2, "two"));
  await expect(rig.send(outgoing(group.id, 3, "three"))).rejects.toMatchObject({
    permanent: false,
    retryAfterMs: expect.any(Number) as number,
  });

  await expect.poll(() => ann.texts(group)).toEqual(["one", "two"]);
});
