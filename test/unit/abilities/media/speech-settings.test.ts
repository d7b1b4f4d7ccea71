import { expect, test } from "vitest";

import { builtInAdapters } from "../../../../src/config/adapters.ts";
import { checkConfigText, describeFault } from "../../../../src/config/loading/load.ts";
import { speechSource } from "../../../../src/abilities/media/sources.ts";
import { providerServer } from "../../../../src/config/configured/provider-servers.ts";
import { resolveGroup } from "../../../../src/config/resolve-group.ts";

function read(text: string) {
  const check = checkConfigText(text, {}, builtInAdapters);
  return check.ok ? check.loaded.config : check.faults.map(describeFault).join("\n");
}

test.each([
  ["loud", "media.speech"],
  ["{ provider: mouth }", "media.speech"],
  ["{ provider: mouth, model: tts-1, pitch: 2 }", "pitch"],
  ["{ provider: mouth, model: tts-1, charactersPerDay: 0 }", "charactersPerDay"],
  ["{ program: festival }", "media.speech"],
  ["{ program: espeak, voice: -w/etc/x }", "media.speech"],
  ["{ provider: moth, model: tts-1 }", 'media.speech.provider: there is no provider "moth"'],
  ["{ provider: still, model: tts-1 }", "media.speech.provider: still (kind offline) has no speech"],
])("media.speech: %s is refused, with the place and the reason", (speech, fault) => {
  const providers = "{ mouth: { kind: openai, apiKey: sk-mouth }, still: { kind: offline } }";

  expect(read(`{ models: { providers: ${providers} }, media: { speech: ${speech} } }`)).toContain(fault);
});

test("what speaks is asked where its provider is, with its key, the voice that everybody has, and a limit", () => {
  const providers = "{ mouth: { kind: openai, apiKey: sk-mouth, baseUrl: 'http://127.0.0.1:8880/v1' } }";
  const config = read(`{ models: { providers: ${providers} }, media: { speech: { provider: mouth, model: kokoro } } }`);
  if (typeof config === "string") throw new Error(config);

  expect(speechSource(config.media, (name) => providerServer(config, builtInAdapters, name))).toEqual({
    provider: "mouth",
    baseUrl: "http://127.0.0.1:8880/v1",
    apiKey: "sk-mouth",
    model: "kokoro",
    voice: "alloy",
    charactersPerDay: 100_000,
  });
});

function terminal(chat: string, packages: string): string {
  return `{ channel: terminal, chat: ${chat}, image: { apt: [${packages}] } }`;
}

test.each([
  ["espeak", { voice: "en", charactersPerDay: 100_000 }],
  ["{ program: espeak, voice: en-gb+f3, charactersPerDay: 10 }", { voice: "en-gb+f3", charactersPerDay: 10 }],
])("media.speech: %s speaks in groups whose image is to have what it takes", (speech, place) => {
  const groups = `{ able: ${terminal("a", "opus-tools, espeak-ng=1.51")}, half: ${terminal("h", "espeak-ng")} }`;
  const config = read(`{ media: { speech: ${speech} }, groups: ${groups} }`);
  if (typeof config === "string") throw new Error(config);

  expect(speechSource(config.media, (name) => providerServer(config, builtInAdapters, name))).toEqual({
    program: "espeak",
    ...place,
  });
  expect(["able", "half", "main"].map((name) => resolveGroup(config, { name }).speaks)).toEqual([true, false, false]);
});
