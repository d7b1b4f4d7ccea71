import { copyFile, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import pino from "pino";
import { expect, test } from "vitest";

import type { TranscriberSource } from "../../../../src/domain/settings/transcriber-source.ts";
import { Media } from "../../../../src/abilities/media/media.ts";
import { createHearing } from "../../../../src/abilities/media/speech/hearing.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { startTranscriptionServer } from "../../../support/transcription-server.ts";

const sample = join(import.meta.dirname, "../../../../assets/hello.opus");
const signal = new AbortController().signal;

async function openRig(place: TranscriberSource) {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder());
  const media = stack.use(new Media({ folder: join(folder.path, "media") }));
  const paid: unknown[] = [];
  const hear = createHearing({
    media,
    place: () => place,
    pay: async (model, seconds, group) => {
      paid.push({ model, seconds, group });
      return {
        settle: async () => void paid.push("paid"),
        giveBack: async () => void paid.push("given back"),
      };
    },
    logger: pino({ level: "silent" }),
  });
  const path = join(folder.path, "voice.ogg");
  await copyFile(sample, path);
  const owned = stack.move();
  return {
    path,
    paid,
    hear: async () => {
      const { size: bytes } = await stat(path);
      return hear({ group: "family", path, mimeType: "audio/ogg", extension: "ogg", bytes }, signal);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function placeAt({ url }: { readonly url: string }): TranscriberSource {
  return { provider: "gpt", baseUrl: url, apiKey: "sk-secret", model: "whisper-1" };
}

test("where nothing hears, it is known how long a recording is", async () => {
  await using rig = await openRig("none");

  const { heard, transcript } = await rig.hear();

  expect(heard?.seconds).toBeGreaterThan(1.5);
  expect(heard?.seconds).toBeLessThan(5);
  expect(heard?.failure).toBeUndefined();
  expect(transcript).toBeUndefined();
});

test("a provider gets the recording as it is, and its answer is what was said", async () => {
  await using server = await startTranscriptionServer("  Hello, this is crabpot.\n");
  await using rig = await openRig(placeAt(server));

  const { heard, transcript } = await rig.hear();

  expect(transcript).toBe("Hello, this is crabpot.");
  expect(rig.paid).toEqual([{ model: "gpt/whisper-1", seconds: heard?.seconds, group: "family" }, "paid"]);
  expect(heard).toEqual({ seconds: expect.any(Number), transcribed: true });
  expect(server.requests).toEqual([
    { authorization: "Bearer sk-secret", model: "whisper-1", fileName: "voice.ogg", bytes: await readFile(sample) },
  ]);
});

test.each([
  ["refuses", { status: 401, body: '{"error":{"message":"Incorrect API key: sk-secret"}}' }],
  ["breaks", { status: 500, body: "<html>" }],
  ["says something else", { status: 200, body: '{"words":[]}' }],
])("when a provider %s, the length is left, and nothing of its words", async (_what, answer) => {
  await using server = await startTranscriptionServer(answer);
  await using rig = await openRig(placeAt(server));

  expect(await rig.hear()).toEqual({ heard: { seconds: expect.any(Number), failure: "it failed" } });
});

test("when nobody is heard, that is said", async () => {
  await using server = await startTranscriptionServer(" ");
  await using rig = await openRig(placeAt(server));

  expect((await rig.hear()).heard?.failure).toBe("nobody was heard in it");
});

test("a local model that is not installed is said to be the reason to the operator only", async () => {
  await using rig = await openRig({ folder: "/nowhere" });

  expect(await rig.hear()).toEqual({ heard: { seconds: expect.any(Number), failure: "it failed" } });
});

test("what is no recording has no length", async () => {
  await using rig = await openRig("none");
  await writeFile(rig.path, "OggS and nothing else");

  expect(await rig.hear()).toEqual({ heard: {} });
  await writeFile(rig.path, (await readFile(sample)).subarray(0, 2_000));
  expect(await rig.hear()).toEqual({ heard: {} });
});
