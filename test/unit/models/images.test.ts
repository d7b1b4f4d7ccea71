import { expect, test } from "vitest";

import type { ModelMessage } from "../../../src/domain/turns/model.ts";
import type { BlobPart } from "../../../src/domain/chats/part.ts";
import { openProvider } from "../../../src/models/catalog.ts";
import { startAnthropicServer } from "../../support/model-servers/anthropic.ts";
import { startOpenAiServer } from "../../support/model-servers/openai.ts";
import { modelCall, openModelCalls } from "./open-model-calls.ts";

const cat = image("ca", "image/png", "cat.png");
const dog = image("d0", "image/jpeg", "dog.jpg");
const bytes = new Map([
  [cat.blob, Buffer.from("a cat")],
  [dog.blob, Buffer.from("a dog")],
]);
const [catBase64, dogBase64] = [Buffer.from("a cat").toString("base64"), Buffer.from("a dog").toString("base64")];

const messages: readonly ModelMessage[] = [
  { role: "user", parts: [{ kind: "text", text: "here:" }, cat, { kind: "text", text: "and:" }, dog] },
  { role: "assistant", text: "", toolCalls: [{ id: "a", name: "view_image", input: {} }] },
  {
    role: "tool",
    results: [
      { callId: "a", parts: [{ kind: "text", text: "the cat" }, cat], isError: false },
      { callId: "b", output: "only words", isError: true },
    ],
  },
  { role: "user", text: "well?" },
];

function image(hex: string, mimeType: string, name: string): BlobPart {
  return { kind: "image", blob: hex.repeat(32), mimeType, bytes: 5, name };
}

/** The conversation as it arrives at a vendor's server. */
async function sent(
  kind: "anthropic" | "openai",
  images: ReadonlyMap<string, Uint8Array> | undefined,
  said: readonly ModelMessage[] = messages,
) {
  const start = kind === "anthropic" ? startAnthropicServer : startOpenAiServer;
  await using server = await start(() => ({ text: "hi" }));
  const provider = await openProvider("vendor", { kind, apiKey: "none", baseUrl: server.url });
  const request = { model: "some-model", system: [], messages: said, tools: [], maxOutputTokens: 100, images };
  await provider.complete(request, { signal: new AbortController().signal });
  const body = server.requests[0]?.body as { messages: unknown } | undefined;
  return body?.messages;
}

function source(media_type: string, data: string): object {
  return { type: "image", source: { type: "base64", media_type, data } };
}

function url(type: string, data: string): object {
  return { type: "image_url", image_url: { url: `data:${type};base64,${data}` } };
}

test("of a picture that is not alone in its file, a model is told so behind it", async () => {
  const moving: readonly ModelMessage[] = [{ role: "user", parts: [{ ...cat, frames: 3 }] }];

  expect(await sent("openai", bytes, moving)).toEqual([
    {
      role: "user",
      content: [
        url("image/png", catBase64),
        { type: "text", text: "[a picture, one of 3 frames or pictures of the file]" },
      ],
    },
  ]);
});

test("Anthropic gets images between the texts that name them, and in the results that they are of", async () => {
  expect(await sent("anthropic", bytes)).toEqual([
    {
      role: "user",
      content: [
        { type: "text", text: "here:" },
        source("image/png", catBase64),
        { type: "text", text: "and:" },
        { ...source("image/jpeg", dogBase64), cache_control: { type: "ephemeral" } },
      ],
    },
    { role: "assistant", content: [{ type: "tool_use", id: "a", name: "view_image", input: {} }] },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "a",
          content: [{ type: "text", text: "the cat" }, source("image/png", catBase64)],
        },
        { type: "tool_result", tool_use_id: "b", content: "only words", is_error: true },
        { type: "text", text: "well?", cache_control: { type: "ephemeral" } },
      ],
    },
  ]);
});

test("OpenAI gets images as data URLs, those of results in the user's message behind them", async () => {
  expect(await sent("openai", bytes)).toEqual([
    {
      role: "user",
      content: [
        { type: "text", text: "here:" },
        url("image/png", catBase64),
        { type: "text", text: "and:" },
        url("image/jpeg", dogBase64),
      ],
    },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "a", type: "function", function: { name: "view_image", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "a", content: "the cat\n[an image, shown below]" },
    { role: "tool", tool_call_id: "b", content: "Error: only words" },
    {
      role: "user",
      content: [
        { type: "text", text: "[from the result of the call a]" },
        url("image/png", catBase64),
        { type: "text", text: "well?" },
      ],
    },
  ]);
});

test.each(["anthropic", "openai"] as const)("%s is told in words of an image whose bytes are missing", async (kind) => {
  const body = JSON.stringify(await sent(kind, new Map([[dog.blob, Buffer.from("a dog")]])));

  expect(body).toContain("[image: cat.png, image/png, 5 bytes, cacacacacaca]");
  expect(body).toContain(dogBase64);
  expect(body).not.toContain(catBase64);
  expect(JSON.stringify(await sent(kind, undefined))).not.toContain(dogBase64);
});

test("each model of a route is shown what it can see, and a damaged image is told in words", async () => {
  await using calls = await openModelCalls({
    first: () => ({ fault: "status", status: 401 }),
    capabilities: { "claude/small": { vision: false }, "gpt/small": { vision: true } },
    images: new Map([[dog.blob, Buffer.from("a dog")]]),
  });

  await calls.models.complete(modelCall({ messages }));

  const blind = JSON.stringify(calls.first.requests[0]?.body);
  expect([blind.includes("[image: cat.png"), blind.includes(dogBase64)]).toEqual([true, false]);
  const seeing = JSON.stringify(calls.second.requests[0]?.body);
  expect([seeing.includes("[image: cat.png"), seeing.includes(dogBase64)]).toEqual([true, true]);
});

test("an image that the vendor refuses does not end the conversation: it is asked again without images", async () => {
  await using calls = await openModelCalls({
    route: ["claude/small"],
    capabilities: { "claude/small": { vision: true } },
    first: ({ index }) =>
      index === 0
        ? { fault: "status", status: 400, message: "image exceeds 8000 pixels", kind: "invalid_request_error" }
        : { text: "I see nothing" },
    images: bytes,
  });

  const answer = await calls.models.complete(modelCall({ messages }));

  expect(answer.text).toBe("I see nothing");
  const bodies = calls.first.requests.map(({ body }) => JSON.stringify(body).includes(catBase64));
  expect(bodies).toEqual([true, false]);
});
