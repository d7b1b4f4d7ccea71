import { createHash } from "node:crypto";

import { expect, test } from "vitest";

import { AppRig } from "../support/whatsapp/app-rig.ts";

const picture = Buffer.from("\x89PNG\r\n\x1a\n and the rest of a picture", "latin1");
const inbox = /\/workspace\/group\/inbox\/\S+\.png/;

test("the agent reads a picture of a member with its tools, and sends a document and a reaction that members get", async () => {
  await using rig = await AppRig.start(({ messages }) => {
    const done = messages.filter(({ role }) => role === "tool");
    const path = inbox.exec(messages.map(({ text }) => text).join("\n"))?.[0] ?? "";
    const calls = [
      { name: "shell", input: { command: `md5sum < ${path}; printf 'a,b\\n' > list.csv` } },
      { name: "send_file", input: { path: "list.csv", caption: "the list" } },
      { name: "react", input: { emoji: "👍" } },
    ];
    const call = calls[done.length];
    return call ? { toolCalls: [call] } : { text: done[0]?.text ?? "" };
  });
  const { ann, bob, family, whatsapp } = rig;

  const image = { base64: picture.toString("base64"), mimeType: "image/png" };
  const asked = await ann.say(family, "@crab what is this?", { image });

  await expect.poll(async () => bob.inbox()).toHaveLength(3);
  const [document, reaction, answer] = await bob.inbox();
  expect(document?.content).toMatchObject({
    kind: "document",
    text: "the list",
    file: { name: "list.csv", mimeType: "text/csv" },
  });
  expect((await whatsapp.file(document?.id ?? "")).toString()).toBe("a,b\n");
  expect(reaction?.content).toMatchObject({ kind: "reaction", text: "👍", about: asked });
  expect(answer?.content.text).toContain(createHash("md5").update(picture).digest("hex"));
});

test("a group that the account is put into is silent until the owner approves it in the chat with oneself", async () => {
  await using rig = await AppRig.start(() => ({ text: "Hello!" }), { main: true });
  const { ann, bob, whatsapp } = rig;
  const { owner } = whatsapp;
  const bowling = await whatsapp.addGroup({ subject: "Bowling", members: [ann, bob, whatsapp.bot] });

  await ann.say(bowling, "nothing for the agent");
  await ann.say(bowling, "@90000000000001 hello", { mention: [whatsapp.bot.name] });
  await expect.poll(async () => (await owner.texts()).join("\n")).toContain("Bowling");
  const silent = await ann.texts(bowling);
  const code = /\/approve (\w+)/.exec((await owner.texts()).join("\n"))?.[1] ?? "";
  await owner.say(owner, `/approve ${code}`);
  await expect.poll(async () => (await rig.host.cli("groups", "list", "--json")).stdout).toContain(bowling.id);
  await ann.say(bowling, "@90000000000001 and now?", { mention: [whatsapp.bot.name] });

  await expect.poll(async () => (await bob.texts(bowling)).at(-1)).toBe("Hello!");
  expect(await bob.texts(bowling)).toHaveLength(2);
  expect(silent).toEqual([]);
  expect(rig.model.requests.map(({ lastText }) => lastText).join("\n")).not.toContain("nothing for the agent");
});
