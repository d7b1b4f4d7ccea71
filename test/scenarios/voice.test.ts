import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import { engineWithAgentImage } from "../support/engine.ts";
import { startModelHost, startWithoutContainers } from "../support/model-host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { removeImagesWith } from "../support/package-mirror.ts";
import { shareModelHost } from "../support/shared-host.ts";
import { startSpeechServer } from "../support/speech-server.ts";
import { startTranscriptionServer } from "../support/transcription-server.ts";

/** Packages of Debian: 7 MB. */
const buildMs = 240_000;

afterAll(async () => removeImagesWith("opus-tools", (await engineWithAgentImage()).image));

const voice = await readFile(join(import.meta.dirname, "../../assets/hello.opus"));
const attachments = [{ mimeType: "audio/ogg", data: voice.toString("base64") }];

const servers = new AsyncDisposableStack();
afterAll(() => servers.disposeAsync());
const ears = servers.use(await startTranscriptionServer("Hey crab, buy <b>milk</b> & bread."));
const refusal = { status: 500, body: "the provider's own words" };
const mouth = servers.use(await startSpeechServer((text) => (text === "Fail." ? refusal : voice)));

const hosts = shareModelHost({
  groups: { hearing: {}, refused: {} },
  withoutContainers: "all",
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
});

test("what is said in a voice message wakes the agent, which reads it as what it is", async () => {
  const group = hosts.group("hearing", () => ({ text: "heard" }));

  const reply = await group.ask("", { attachments });

  expect(reply.text).toBe("heard");
  const prompt = group.requests[0]?.lastText ?? "";
  expect(prompt).toMatch(
    /<attachment kind="audio" seconds="[1-4]\.?\d?" transcribed="yes">\/workspace\/group\/inbox\//,
  );
  expect(JSON.stringify(group.requests[0]?.body)).not.toMatch(/input_audio|T2dnUw/);
  expect(prompt).toContain("Hey crab, buy &lt;b&gt;milk&lt;/b&gt; &amp; bread.");
});

/** Says hello aloud, with what is not for the chat, and then that it is done. */
const helloOnce: ModelScript = ({ toolOutputs }) =>
  toolOutputs.length > 0
    ? { text: "done" }
    : {
        toolCalls: [
          { name: "send_voice", input: { text: "<internal>hm</internal>Hello, sk-mouth-77d0c41ab9e35f2608!" } },
        ],
      };

test("what the agent says aloud reaches the chat once, with its words, also when the host is killed before it tells its agent", async () => {
  await using server = await startSpeechServer(() => voice);
  await using running = await startWithoutContainers(helloOnce, {
    providers: { mouth: { kind: "openai", apiKey: "sk-mouth-77d0c41ab9e35f2608", baseUrl: server.url } },
    config: { media: { speech: { provider: "mouth", model: "tts-1" } } },
  });
  const { host } = running;

  const hasDied = await host.dieAt("after:outbox.add", () => host.say("family", "@crab say hello", { id: "ask" }));
  await host.replyTo("ask");

  const replies = (await host.replies()) as unknown as { text: string; file?: { href: string } }[];
  const fetched = await host.get(replies[0]?.file?.href ?? "");
  expect(hasDied).toBe(true);
  expect(replies).toMatchObject([
    { text: "Hello, [redacted]!", file: { name: "voice.ogg", mimeType: "audio/ogg", bytes: voice.length } },
    { text: "done" },
  ]);
  expect(Buffer.from(await fetched.arrayBuffer())).toEqual(voice);
  expect(server.requests).toEqual([
    {
      authorization: "Bearer sk-mouth-77d0c41ab9e35f2608",
      model: "tts-1",
      input: "Hello, [redacted]!",
      voice: "alloy",
      format: "opus",
    },
  ]);
  const records = jsonLines((await host.cli("audit", "export", "--json")).stdout).map(({ type }) => type);
  expect(records.filter((type) => String(type).startsWith("voice-"))).toEqual(["voice-asked", "voice-made"]);
  const usage = jsonLines((await host.cli("usage", "--by", "model", "--json")).stdout);
  expect(usage).toContainEqual(expect.objectContaining({ name: "mouth/tts-1", calls: 1, usd: (18 * 15) / 1e6 }));
});

test("why a voice message was not sent is told to the agent, and nothing reaches the chat", async () => {
  const texts = ["Fail.", "x".repeat(4_001), " ", "Good."];
  const group = hosts.group("refused", ({ messages }) => {
    const done = messages.filter(({ role }) => role === "tool");
    const text = texts[done.length];
    if (text !== undefined) return { toolCalls: [{ name: "send_voice", input: { text } }] };
    return { text: done.map((result) => result.text).join("\n") };
  });

  const { text: told } = await group.ask("@crab say it");

  expect(told).toContain("The voice message was not sent: mouth (tts-1) answered 500.");
  expect(told).toContain("is too long: at most 4000 characters are said in one voice message");
  expect(told).not.toContain("own words");
  expect(told).toMatch(/Sent a voice message of [1-4]\.?\d? seconds\.$/);
  expect((await group.replies()).map(({ text }) => text)).toEqual(["Good.", told]);
  expect(mouth.requests.map(({ input }) => input)).toEqual(["Fail.", "Good."]);
  const metrics = await (await group.host.get("/metrics")).text();
  expect(metrics).toContain('crabpot_voice_messages_total{outcome="refused"} 1');
  expect(metrics).toContain('crabpot_voice_messages_total{outcome="made"} 1');
});

test(
  "espeak-ng says what the agent sends in its own container, where the group's image has it",
  { timeout: buildMs * 2 },
  async () => {
    const texts = ['-v "$(id)"; `id` Guten Tag, <b>Familie</b>!', "Und noch einmal."];
    await using running = await startModelHost(
      ({ body, messages }) => {
        const done = messages.filter(({ role }) => role === "tool");
        const text = texts[done.length];
        if (!JSON.stringify(body).includes('"send_voice"')) return { text: "I have no voice." };
        if (text !== undefined) return { toolCalls: [{ name: "send_voice", input: { text } }] };
        return { text: done.map((result) => result.text).join("\n") };
      },
      {
        groups: { family: { image: { apt: ["espeak-ng", "opus-tools"] } }, plain: {} },
        config: { media: { speech: { program: "espeak", voice: "de" } } },
      },
    );
    const { host } = running;

    await host.say("family", "@crab say it", { id: "ask" });
    const told = await host.replyTo("ask", { waitSeconds: buildMs / 1_000 });
    const plain = await host.ask("plain", "@crab say it");

    const replies = (await host.replies()) as unknown as { text: string; file?: { href: string; bytes: number } }[];
    const spoken = replies.filter(({ file }) => file !== undefined);
    const sound = Buffer.from(await (await host.get(spoken[0]?.file?.href ?? "")).arrayBuffer());
    expect(told.text).toMatch(/^(?:Sent a voice message of \d\.?\d? seconds\.\n?){2}$/);
    expect(spoken.map(({ text }) => text)).toEqual(texts);
    expect(sound.toString("latin1")).toMatch(/^OggS.{24}OpusHead/s);
    expect(plain.text).toBe("I have no voice.");
    const records = jsonLines((await host.cli("audit", "export", "--json")).stdout);
    const made = records.filter(({ type }) => type === "voice-made");
    expect(made).toMatchObject([{ data: { by: "espeak", bytes: sound.length } }, { data: { by: "espeak" } }]);
    const created = records.filter(
      ({ type, data }) => type === "container-create" && JSON.stringify(data).includes("_speech"),
    );
    expect(created).toHaveLength(2);
    const doctor = await host.cli("doctor", "--json");
    expect(doctor.stdout).toContain("espeak-ng speaks voice messages of agents in family.");
  },
);
