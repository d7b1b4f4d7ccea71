import { expect, test } from "vitest";

import { openProvider } from "../../../src/models/catalog.ts";
import type { Provider, ProviderRequest } from "../../../src/models/provider.ts";
import { startAnthropicServer } from "../../support/model-servers/anthropic.ts";
import type { ModelScript, ModelServer } from "../../support/model-servers/model-server.ts";

const request: ProviderRequest = {
  model: "some-model",
  system: ["You are crab.", "It is Monday."],
  messages: [
    { role: "user", text: "one" },
    { role: "user", text: "two" },
    { role: "assistant", text: "on it", toolCalls: [{ id: "a", name: "shell", input: { command: "ls" } }] },
    { role: "tool", results: [{ callId: "a", output: "no", isError: true }] },
    { role: "user", text: "hurry" },
  ],
  tools: [{ name: "shell", description: "Runs.", inputSchema: { type: "object", properties: {} } }],
  maxOutputTokens: 1_000,
};
const options = { signal: new AbortController().signal };

async function open(script: ModelScript): Promise<{ provider: Provider; server: ModelServer } & AsyncDisposable> {
  const server = await startAnthropicServer(script);
  const provider = await openProvider("claude", { kind: "anthropic", apiKey: "none", baseUrl: `${server.url}/v1/` });
  return { provider, server, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

function streamOf(...events: readonly string[]): { fault: "raw"; body: string } {
  return { fault: "raw", body: events.join("") };
}

function event(type: string, data: object = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}

test("roles alternate, results come first, and the cache is marked behind what stays and at the ends of the last two messages", async () => {
  await using opened = await open(() => ({ text: "hi" }));
  const mark = { cache_control: { type: "ephemeral" } };

  await opened.provider.complete(request, options);

  expect(opened.server.requests[0]?.body).toEqual({
    model: "some-model",
    max_tokens: 1_000,
    stream: true,
    system: [
      { type: "text", text: "You are crab.", ...mark },
      { type: "text", text: "It is Monday." },
    ],
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "one" },
          { type: "text", text: "two", ...mark },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "text", text: "on it" },
          { type: "tool_use", id: "a", name: "shell", input: { command: "ls" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: "no", is_error: true },
          { type: "text", text: "hurry", ...mark },
        ],
      },
    ],
    tools: [{ name: "shell", description: "Runs.", input_schema: { type: "object", properties: {} }, ...mark }],
  });
});

test("thinking is left out of the answer", async () => {
  const usage = { input_tokens: 5, output_tokens: 1 };
  await using opened = await open(() =>
    streamOf(
      event("message_start", { message: { usage } }),
      event("content_block_start", { index: 0, content_block: { type: "thinking", thinking: "" } }),
      event("content_block_delta", { index: 0, delta: { type: "thinking_delta", thinking: "hm" } }),
      event("content_block_delta", { index: 0, delta: { type: "signature_delta", signature: "s" } }),
      event("content_block_stop", { index: 0 }),
      event("content_block_start", { index: 1, content_block: { type: "text", text: "" } }),
      event("content_block_delta", { index: 1, delta: { type: "text_delta", text: "done" } }),
      event("content_block_stop", { index: 1 }),
      event("something_new"),
      event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 40 } }),
      event("message_stop"),
    ),
  );

  await expect(opened.provider.complete(request, options)).resolves.toMatchObject({
    text: "done",
    usage: { inputTokens: 5, outputTokens: 40 },
  });
});

test("what was written to the cache and what was read from it is part of the input", async () => {
  const usage = {
    input_tokens: 5,
    cache_creation_input_tokens: 100,
    cache_read_input_tokens: 1_000,
    output_tokens: 1,
  };
  await using opened = await open(() =>
    streamOf(
      event("message_start", { message: { usage } }),
      event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } }),
      event("message_stop"),
    ),
  );

  const { usage: counted } = await opened.provider.complete(request, options);

  expect(counted).toEqual({
    inputTokens: 1_105,
    cachedInputTokens: 1_000,
    writtenInputTokens: 100,
    outputTokens: 2,
  });
});

test("an error in the middle of the stream is what the vendor calls it", async () => {
  await using opened = await open(() =>
    streamOf(
      event("message_start", { message: { usage: {} } }),
      event("error", { error: { type: "overloaded_error", message: "Overloaded" } }),
    ),
  );

  await expect(opened.provider.complete(request, options)).rejects.toMatchObject({ failure: "overloaded" });
});

test("an answer without its last event counts as cut off", async () => {
  await using opened = await open(() =>
    streamOf(
      event("message_start", { message: { usage: {} } }),
      event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } }),
    ),
  );

  await expect(opened.provider.complete(request, options)).rejects.toMatchObject({ failure: "unavailable" });
});
