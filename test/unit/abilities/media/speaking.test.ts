import { readFile } from "node:fs/promises";
import { join } from "node:path";

import pino from "pino";
import { expect, test } from "vitest";

import type { NewEvent } from "../../../../src/domain/events/event.ts";
import { Media } from "../../../../src/abilities/media/media.ts";
import { MediaError } from "../../../../src/abilities/media/media-error.ts";
import { Speaking } from "../../../../src/abilities/media/speech/speaking.ts";
import { type SpeechAnswer, startSpeechServer } from "../../../support/speech-server.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const sample = await readFile(join(import.meta.dirname, "../../../../assets/hello.opus"));
const whose = { group: "family", session: "s", turn: "t" };
const now = Date.UTC(2026, 10, 23, 15);

async function openRig(
  say: (text: string) => SpeechAnswer,
  options: { apiKey?: string; saidBefore?: number; timeoutMs?: number; isBroke?: boolean } = {},
) {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startSpeechServer(say));
  const folder = stack.use(await temporaryFolder());
  const media = stack.use(new Media({ folder: join(folder.path, "media") }));
  const events: NewEvent[] = [];
  const asked: number[] = [];
  const paid: unknown[] = [];
  const { apiKey = "sk-secret", saidBefore = 0 } = options;
  const place = { provider: "gpt", baseUrl: server.url, apiKey, model: "tts-1", voice: "nova", charactersPerDay: 100 };
  const speaking = new Speaking({
    media,
    place: () => place,
    charsSince: async (_group, since) => {
      asked.push(since);
      return saidBefore;
    },
    speakInContainer: async () => Promise.reject(new Error("a provider speaks")),
    pay: async (model, chars, { turn }) => {
      if (options.isBroke === true) throw new MediaError("refused", "the day's budget is used up");
      paid.push({ model, chars, turn });
      return {
        settle: async (seconds) => void paid.push(seconds ?? "in full"),
        giveBack: async () => void paid.push("given back"),
      };
    },
    publish: async (event) => void events.push(event),
    now: () => now,
    timeoutMs: options.timeoutMs,
    logger: pino({ level: "silent" }),
  });
  const owned = stack.move();
  return {
    server,
    events,
    asked,
    paid,
    say: (text: string, signal = new AbortController().signal) => speaking.say(text, whose, signal),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test("a provider is asked as its documents say, and what it says is measured by the media process, on record before and after", async () => {
  await using rig = await openRig(() => sample);

  const { content, seconds } = await rig.say("Grüße, 漢字!");

  expect(Buffer.from(content)).toEqual(sample);
  expect(seconds).toBeGreaterThan(1.5);
  expect(seconds).toBeLessThan(5);
  expect(rig.server.requests).toEqual([
    { authorization: "Bearer sk-secret", model: "tts-1", input: "Grüße, 漢字!", voice: "nova", format: "opus" },
  ]);
  expect(rig.paid).toEqual([{ model: "gpt/tts-1", chars: 10, turn: "t" }, seconds]);
  expect(rig.events).toEqual([
    { type: "voice.asked", actor: "agent", ...whose, data: { by: "gpt/tts-1", chars: 10 } },
    {
      type: "voice.made",
      actor: "agent",
      ...whose,
      data: { by: "gpt/tts-1", chars: 10, bytes: sample.length, seconds, ms: 0 },
    },
  ]);
});

const elsewhere = { status: 307, body: "", location: "http://127.0.0.1:9/v1/audio/speech" };

test.each<[string, SpeechAnswer, string]>([
  ["refuses", { status: 429, body: '{"error":{"message":"pay sk-secret"}}' }, "gpt (tts-1) answered 429"],
  ["breaks", { status: 500, body: "<html>" }, "gpt (tts-1) answered 500"],
  ["sends a page", { status: 200, body: "<html>" }, "gpt/tts-1 answered with something that is no sound in Ogg Opus"],
  [
    "sends another format",
    Buffer.concat([Buffer.from("RIFF0000WAVEfmt "), Buffer.alloc(1_000)]),
    "gpt/tts-1 answered with something that is no sound in Ogg Opus",
  ],
  ["sends nothing", Buffer.alloc(0), "gpt/tts-1 answered with something that is no sound in Ogg Opus"],
  ["sends us elsewhere", elsewhere, "gpt (tts-1) could not be reached"],
])("when a provider %s, the agent is told so in our words", async (_what, answer, words) => {
  await using rig = await openRig(() => answer);

  await expect(rig.say("Hello.")).rejects.toMatchObject({ name: "MediaError", message: words });

  expect(rig.events.at(-1)).toMatchObject({ type: "voice.refused", data: { by: "gpt/tts-1", reason: words } });
});

test("a provider that never stops is cut off", async () => {
  await using rig = await openRig(() => "endless");

  await expect(rig.say("Hello.")).rejects.toMatchObject({ message: "gpt (tts-1) answered with more than 16 MB" });

  await expect.poll(() => rig.server.cut).toEqual(["Hello."]);
});

test("a wrong key is told as what it is", async () => {
  await using rig = await openRig(() => sample, { apiKey: "none" });

  await expect(rig.say("Hello.")).rejects.toMatchObject({ message: "gpt (tts-1) answered 401" });
  expect(rig.paid.at(-1)).toBe("given back");
});

test("a provider that says nothing for too long is given up", async () => {
  await using rig = await openRig(() => "silent", { timeoutMs: 50 });

  await expect(rig.say("Hello.")).rejects.toMatchObject({ message: "gpt (tts-1) did not answer within 0.05 seconds" });
  expect(rig.paid.at(-1)).toBe("in full");

  await expect.poll(() => rig.server.cut).toEqual(["Hello."]);
});

test("where there is no money for it, nobody is asked", async () => {
  await using rig = await openRig(() => sample, { isBroke: true });

  await expect(rig.say("Hello.")).rejects.toMatchObject({ message: "the day's budget is used up" });

  expect(rig.server.requests).toEqual([]);
  expect(rig.events.map(({ type }) => type)).toEqual(["voice.refused"]);
});

test("when the turn ends, nobody waits for a provider that says nothing, which is on record as cancelled", async () => {
  const ending = new AbortController();
  await using rig = await openRig(() => {
    queueMicrotask(() => ending.abort(new Error("the turn is over")));
    return "silent";
  });

  await expect(rig.say("Hello.", ending.signal)).rejects.toThrow("the turn is over");

  await expect.poll(() => rig.server.cut).toEqual(["Hello."]);
  expect(rig.events.at(-1)).toMatchObject({ type: "voice.refused", data: { reason: "cancelled" } });
});

test("what was said since midnight counts, also by calls that are under way, and nobody is asked for more", async () => {
  await using rig = await openRig(() => sample, { saidBefore: 60 });

  const both = await Promise.allSettled([rig.say("a".repeat(30)), rig.say("b".repeat(11))]);

  expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  expect(both[1]).toMatchObject({
    reason: { message: "this group may say 100 characters a day (UTC) aloud and has 40 left; write it instead" },
  });
  expect(rig.server.requests.map(({ input }) => input)).toEqual(["a".repeat(30)]);
  expect(rig.asked).toEqual([Date.UTC(2026, 10, 23), Date.UTC(2026, 10, 23)]);
});

test("a third text of a group waits for nobody: it is refused, and can be said when one of the others was", async () => {
  await using rig = await openRig(() => sample);

  const three = await Promise.allSettled([rig.say("one"), rig.say("two"), rig.say("three")]);
  const after = await rig.say("four");

  expect(three.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
  expect(three[2]).toMatchObject({ reason: { message: "others are being made at the moment; try again in a moment" } });
  expect(after.content.length).toBe(sample.length);
});
