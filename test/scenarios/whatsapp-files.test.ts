import { createHash } from "node:crypto";
import { readdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";

import { expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import type { ModelServerRequest } from "../support/model-servers/model-server.ts";
import { pngOf } from "../support/picture-files.ts";
import { AppRig } from "../support/whatsapp/app-rig.ts";

const picture = pngOf("a picture");
const otherPicture = pngOf("another one");
const inbox = /\/workspace\/group\/inbox\/\S+\.png/;

test("a message is seen at once; the agent reads its picture with its tools, and sends a document and a reaction that members get", async () => {
  await using rig = await AppRig.start(
    ({ messages }) => {
      const done = messages.filter(({ role }) => role === "tool");
      const path = inbox.exec(messages.map(({ text }) => text).join("\n"))?.[0] ?? "";
      const calls = [
        { name: "shell", input: { command: `md5sum < ${path}; printf 'a,b\\n' > list.csv` } },
        { name: "send_file", input: { path: "list.csv", caption: "the list" } },
        { name: "react", input: { emoji: "👍" } },
      ];
      const call = calls[done.length];
      return call ? { toolCalls: [call] } : { text: done[0]?.text ?? "" };
    },
    { config: { progress: {} } },
  );
  const { ann, bob, family, whatsapp } = rig;

  const image = { base64: picture.toString("base64"), mimeType: "image/png" };
  const asked = await ann.say(family, "@crab what is this?", { image });

  await expect.poll(async () => bob.inbox()).toHaveLength(4);
  const [seen, document, reaction, answer] = await bob.inbox();
  expect(seen?.content).toMatchObject({ kind: "reaction", text: "👀", about: asked });
  expect(document?.content).toMatchObject({
    kind: "document",
    text: "the list",
    file: { name: "list.csv", mimeType: "text/csv" },
  });
  expect((await whatsapp.file(document?.id ?? "")).toString()).toBe("a,b\n");
  expect(reaction?.content).toMatchObject({ kind: "reaction", text: "👍", about: asked });
  expect(answer?.content.text).toContain(createHash("md5").update(picture).digest("hex"));
});

const seeing = { models: { capabilities: { "gpt/test-model": { vision: true } } } };

/** The conversation of a request, in which images are data URLs. */
function messagesIn(request: ModelServerRequest | undefined): readonly { role: string; content: unknown }[] {
  const body = request?.body as { messages: { role: string; content: unknown }[] } | undefined;
  return body?.messages ?? [];
}

test("a model that can see is shown the pictures of members behind the texts that name them, also after a restart", async () => {
  await using rig = await AppRig.start(
    ({ lastText }) => ({ text: lastText.includes("(image_url)") ? "I see." : "No." }),
    {
      ...seeing,
    },
  );
  const { ann, bob, family, host, model } = rig;
  const image = { base64: picture.toString("base64"), mimeType: "image/png" };

  await ann.say(family, "chatter with a picture", { image });
  await ann.say(family, "@crab what is this?", { image: { ...image, base64: otherPicture.toString("base64") } });
  await expect.poll(() => bob.texts(family)).toContain("I see.");
  await host.end("SIGKILL");
  await rm(join(host.home, "groups", "family", "inbox"), { recursive: true });
  await host.boot();
  await ann.say(family, "@crab and now?");
  await expect.poll(() => model.requests.length).toBe(2);

  const [first, second] = model.requests.map((request) => messagesIn(request).filter(({ role }) => role === "user"));
  expect(first?.[0]?.content).toEqual([
    { type: "text", text: expect.stringMatching(/<attachment kind="image">[^<]+<\/attachment>$/) },
    { type: "image_url", image_url: { url: expect.stringMatching(/^data:image\/png;base64,/) } },
    { type: "text", text: expect.stringMatching(/^chatter[^<]+<\/message>\n<message [\s\S]+<\/attachment>$/) },
    { type: "image_url", image_url: { url: expect.stringMatching(/^data:image\/png;base64,/) } },
    { type: "text", text: "@crab what is this?</message>\n</messages>" },
  ]);
  expect(second?.[0]).toEqual(first?.[0]);
  const [turn] = jsonLines((await host.cli("turns", "list", "--json")).stdout).slice(-1);
  const shown = (await host.cli("turns", "show", String(turn?.["id"]))).stdout;
  expect(shown).toMatch(/\[image: \S+\.png, image\/png, \d+ bytes, [0-9a-f]{12}\]/);
  expect(shown).not.toContain(picture.toString("base64").slice(0, 20));
});

test("a picture whose blob is damaged is told in words, and the turn goes on", async () => {
  await using rig = await AppRig.start(() => ({ text: "Hm." }), seeing);
  const { ann, bob, family, host, model } = rig;
  const image = { base64: picture.toString("base64"), mimeType: "image/png" };
  await ann.say(family, "@crab what is this?", { image });
  await expect.poll(() => bob.texts(family)).toContain("Hm.");
  const kept = await readdir(join(host.home, "blobs"), { recursive: true });
  const [sha256 = ""] = kept.map((name) => basename(name)).filter((name) => name.length === 64);
  await writeFile(join(host.home, "blobs", sha256.slice(0, 2), sha256), "something else");

  await ann.say(family, "@crab and now?");
  await expect.poll(() => model.requests.length).toBe(2);

  const said = JSON.stringify(messagesIn(model.requests[1]));
  expect(said).toContain(`bytes, ${sha256.slice(0, 12)}]`);
  expect(said).not.toContain("image_url");
  await expect.poll(() => rig.written()).toContain("is damaged");
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
