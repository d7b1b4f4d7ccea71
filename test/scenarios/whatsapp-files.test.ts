import { createHash } from "node:crypto";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";

import { afterAll, expect, test } from "vitest";

import type { ModelServerRequest } from "../support/model-servers/model-server.ts";
import { pngOf } from "../support/picture-files.ts";
import { restart } from "../support/restarts.ts";
import { startSpeechServer } from "../support/speech-server.ts";
import { startTranscriptionServer } from "../support/transcription-server.ts";
import { shareAppRig } from "../support/whatsapp/shared-app-rig.ts";
import { listGroups } from "../../src/operations/groups/operations.ts";
import { listTurns } from "../../src/operations/turns/operations.ts";

const picture = pngOf("a picture");
const otherPicture = pngOf("another one");
const voice = await readFile(join(import.meta.dirname, "../../assets/hello.opus"));
const inbox = /\/workspace\/group\/inbox\/\S+\.png/;

const servers = new AsyncDisposableStack();
afterAll(() => servers.disposeAsync());
const ears = servers.use(await startTranscriptionServer("Hey crab, how are you?"));
const mouth = servers.use(await startSpeechServer(() => voice));
const sees = { vision: true };

const rigs = shareAppRig({
  groups: {
    tools: { settings: { progress: { reactions: true } } },
    shown: { settings: { model: "sees" } },
    damaged: { settings: { model: "sees" } },
    aloud: {},
  },
  main: true,
  models: {
    routes: { main: ["gpt/test-model"], sees: ["gpt/seeing-model"] },
    capabilities: { "gpt/seeing-model": sees },
  },
  providers: {
    ears: { kind: "openai", apiKey: "sk-ears", baseUrl: ears.url },
    mouth: { kind: "openai", apiKey: "sk-mouth", baseUrl: mouth.url },
  },
  config: {
    media: {
      speech: { provider: "mouth", model: "tts-1" },
      transcription: { provider: "ears", model: "whisper-1" },
    },
  },
  withoutContainers: ["shown", "damaged", "aloud", "main", "bowling"],
});

test("a message is seen at once; the agent reads its picture with its tools, and sends a document and a reaction that members get", async () => {
  const { ann, bob, whatsapp } = rigs.running;
  const family = rigs.group("tools", ({ messages }) => {
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
  const heard = async () => (await bob.inbox()).filter(({ chat }) => chat === family.id);

  const image = { base64: picture.toString("base64"), mimeType: "image/png" };
  const asked = await ann.say(family, "@crab what is this?", { image });

  await expect.poll(heard).toHaveLength(4);
  const [seen, document, reaction, answer] = await heard();
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

/** The conversation of a request, in which images are data URLs. */
function messagesIn(request: ModelServerRequest | undefined): readonly { role: string; content: unknown }[] {
  const body = request?.body as { messages: { role: string; content: unknown }[] } | undefined;
  return body?.messages ?? [];
}

test("a model that can see is shown the pictures of members behind the texts that name them, also after a restart", async () => {
  const { ann, bob, host } = rigs.running;
  const family = rigs.group("shown", ({ lastText }) => ({
    text: lastText.includes("(image_url)") ? "I see." : "No.",
  }));
  const image = { base64: picture.toString("base64"), mimeType: "image/png" };

  await ann.say(family, "chatter with a picture", { image });
  await ann.say(family, "@crab what is this?", { image: { ...image, base64: otherPicture.toString("base64") } });
  await expect.poll(() => bob.texts(family)).toContain("I see.");
  await restart(host, { between: () => rm(join(host.home, "groups", "shown", "inbox"), { recursive: true }) });
  await ann.say(family, "@crab and now?");
  await expect.poll(() => family.requests.length).toBe(2);

  const [first, second] = family.requests.map((request) => messagesIn(request).filter(({ role }) => role === "user"));
  expect(first?.[0]?.content).toEqual([
    { type: "text", text: expect.stringMatching(/<attachment kind="image">[^<]+<\/attachment>$/) },
    { type: "image_url", image_url: { url: expect.stringMatching(/^data:image\/png;base64,/) } },
    { type: "text", text: expect.stringMatching(/^chatter[^<]+<\/message>\n<message [\s\S]+<\/attachment>$/) },
    { type: "image_url", image_url: { url: expect.stringMatching(/^data:image\/png;base64,/) } },
    { type: "text", text: "@crab what is this?</message>\n</messages>" },
  ]);
  expect(second?.[0]).toEqual(first?.[0]);
  const oldest = (await host.control.call(listTurns, { group: "shown", limit: 10 })).at(-1);
  const shown = (await host.cli("turns", "show", oldest?.id ?? "")).stdout;
  expect(shown).toMatch(/\[image: \S+\.png, image\/png, \d+ bytes, [0-9a-f]{12}\]/);
  expect(shown).not.toContain(picture.toString("base64").slice(0, 20));
});

test("a picture whose blob is damaged is told in words, and the turn goes on", async () => {
  const { ann, bob, host } = rigs.running;
  const family = rigs.group("damaged", () => ({ text: "Hm." }));
  // One that no other test has sent: they share what is kept.
  const image = { base64: pngOf("a third one").toString("base64"), mimeType: "image/png" };
  const blobs = async () => {
    const names = await readdir(join(host.home, "blobs"), { recursive: true });
    return names.map((name) => basename(name)).filter((name) => name.length === 64);
  };
  const before = await blobs();
  await ann.say(family, "@crab what is this?", { image });
  await expect.poll(() => bob.texts(family)).toContain("Hm.");
  const [sha256 = "", ...others] = (await blobs()).filter((name) => !before.includes(name));
  expect(others).toEqual([]);
  await writeFile(join(host.home, "blobs", sha256.slice(0, 2), sha256), "something else");

  await ann.say(family, "@crab and now?");
  await expect.poll(() => family.requests.length).toBe(2);

  const said = JSON.stringify(messagesIn(family.requests[1]));
  expect(said).toContain(`bytes, ${sha256.slice(0, 12)}]`);
  expect(said).not.toContain("image_url");
  await expect.poll(() => rigs.running.written()).toContain("is damaged");
});

test("a voice message that names the agent is answered with a voice message", async () => {
  const { ann, bob, whatsapp } = rigs.running;
  const family = rigs.group("aloud", ({ messages, toolOutputs }) => {
    if (toolOutputs.length > 0) return { text: "NO_REPLY" };
    if (!messages.at(-1)?.text.includes('transcribed="yes"')) return { text: "not heard" };
    return { toolCalls: [{ name: "send_voice", input: { text: "I am fine, *thank you*." } }] };
  });
  const sounds = async () => (await bob.inbox()).filter(({ chat }) => chat === family.id);

  await ann.say(family, "", { voice: { base64: voice.toString("base64"), mimeType: "audio/ogg; codecs=opus" } });
  await expect.poll(async () => (await sounds()).at(-1)?.content.kind).toBe("voice");
  await expect.poll(() => family.requests.length).toBe(2);

  const heard = (await sounds()).at(-1);
  expect(heard?.content).toMatchObject({ text: "", file: { mimeType: "audio/ogg; codecs=opus", seconds: 4 } });
  expect(heard?.content.file?.waveform).toHaveLength(64);
  expect(Math.max(...(heard?.content.file?.waveform ?? []))).toBe(100);
  expect(await whatsapp.file(heard?.id ?? "")).toEqual(voice);
  expect(ears.requests[0]?.bytes).toEqual(voice);
  expect(family.requests[0]?.lastText).toContain("Hey crab, how are you?");
  expect((await sounds()).map(({ content }) => content.kind)).toEqual(["voice"]);
});

test("a group that the account is put into is silent until the owner approves it in the chat with oneself", async () => {
  const { ann, bob, host, model, whatsapp } = rigs.running;
  rigs.answers("bowling", () => ({ text: "Hello!" }));
  const { owner } = whatsapp;
  const bowling = await whatsapp.addGroup({ subject: "Bowling", members: [ann, bob, whatsapp.bot] });

  await ann.say(bowling, "nothing for the agent");
  await ann.say(bowling, "@90000000000001 hello", { mention: [whatsapp.bot.name] });
  await expect.poll(async () => (await owner.texts()).join("\n")).toContain("Bowling");
  const silent = await ann.texts(bowling);
  const code = /\/approve (\w+)/.exec((await owner.texts()).join("\n"))?.[1] ?? "";
  await owner.say(owner, `/approve ${code}`);
  await expect
    .poll(async () => (await host.control.call(listGroups, {})).map(({ chat }) => chat))
    .toContain(bowling.id);
  await ann.say(bowling, "@90000000000001 and now?", { mention: [whatsapp.bot.name] });

  await expect.poll(async () => (await bob.texts(bowling)).at(-1)).toBe("Hello!");
  expect(await bob.texts(bowling)).toHaveLength(2);
  expect(silent).toEqual([]);
  expect(model.requests.map(({ lastText }) => lastText).join("\n")).not.toContain("nothing for the agent");
});
