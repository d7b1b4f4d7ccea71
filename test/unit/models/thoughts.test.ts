import { expect, test } from "vitest";

import type { Erasing } from "../../../src/domain/erasure.ts";
import type { ModelAnswer, ModelMessage } from "../../../src/domain/turns/model.ts";
import type { StepBody } from "../../../src/domain/turns/turn.ts";
import { rewriteStep } from "../../../src/records/erasure/rewrite-step.ts";
import { estimateStepTokens } from "../../../src/turns/context/tokens.ts";
import { openProvider } from "../../../src/models/catalog.ts";
import type { Provider, ProviderRequest } from "../../../src/models/provider.ts";
import { startAnthropicServer } from "../../support/model-servers/anthropic.ts";
import type { ModelScript, ModelServer } from "../../support/model-servers/model-server.ts";
import { startOpenAiServer } from "../../support/model-servers/openai.ts";
import { modelCall, openModelCalls } from "./open-model-calls.ts";

const options = { signal: new AbortController().signal };
const listing = { name: "shell", input: { command: "ls" } };

/** An answer, as the next call of the model shows it, with the result of its call. */
function after(answer: ModelAnswer, by = answer.model): readonly ModelMessage[] {
  const { text, toolCalls, thoughts } = answer;
  return [
    { role: "user", text: "look" },
    { role: "assistant", text, toolCalls, ...(thoughts && { thoughts: { by, items: thoughts } }) },
    { role: "tool", results: toolCalls.map(({ id }) => ({ callId: id, output: "a.txt", isError: false })) },
  ];
}

function request(messages: readonly ModelMessage[] = [{ role: "user", text: "look" }]): ProviderRequest {
  return { model: "some-model", system: [], messages, tools: [], maxOutputTokens: 1_000 };
}

interface Opened extends AsyncDisposable {
  readonly provider: Provider;
  readonly server: ModelServer;
}

async function open(kind: "anthropic" | "openai", script: ModelScript): Promise<Opened> {
  const server = await (kind === "anthropic" ? startAnthropicServer(script) : startOpenAiServer(script));
  const provider = await openProvider("vendor", { kind, apiKey: "none", baseUrl: server.url });
  return { provider, server, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** The first answer is this stream, each later one some text. */
function firstly(body: string): ModelScript {
  return ({ index }) => (index === 0 ? { fault: "raw", body } : { text: "done" });
}

function event(type: string, data: object = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}

function block(index: number, content_block: object, ...deltas: readonly object[]): string {
  return [
    event("content_block_start", { index, content_block }),
    ...deltas.map((delta) => event("content_block_delta", { index, delta })),
    event("content_block_stop", { index }),
  ].join("");
}

const thinkingStream = [
  event("message_start", { message: { usage: { input_tokens: 5, output_tokens: 1 } } }),
  block(
    0,
    { type: "thinking", thinking: "", signature: "" },
    { type: "thinking_delta", thinking: "first " },
    { type: "thinking_delta", thinking: "thoughts" },
    { type: "signature_delta", signature: "c2lnbg==" },
  ),
  block(1, { type: "text", text: "" }, { type: "text_delta", text: "I " }, { type: "text_delta", text: "look." }),
  block(2, { type: "redacted_thinking", data: "ZW5jcnlwdGVk" }),
  block(3, { type: "text", text: "" }, { type: "text_delta", text: " Wait." }),
  block(
    4,
    { type: "tool_use", id: "toolu_1", name: "shell", input: {} },
    { type: "input_json_delta", partial_json: '{"command":"ls"}' },
  ),
  event("message_delta", { delta: { stop_reason: "tool_use" }, usage: { output_tokens: 40 } }),
  event("message_stop"),
].join("");

test("blocks of thinking go back to Anthropic where they stood, byte for byte, and are no part of what is said", async () => {
  await using opened = await open("anthropic", firstly(thinkingStream));

  const answer = await opened.provider.complete(request(), options);
  await opened.provider.complete(request(after(answer)), options);

  expect(answer.text).toBe("I look. Wait.");
  expect(contentOf(opened.server.requests[1]?.body)).toEqual([
    { type: "thinking", thinking: "first thoughts", signature: "c2lnbg==" },
    { type: "text", text: "I look." },
    { type: "redacted_thinking", data: "ZW5jcnlwdGVk" },
    { type: "text", text: " Wait." },
    { type: "tool_use", id: "toolu_1", name: "shell", input: { command: "ls" } },
  ]);
});

/** The model's answer as shown to it again. */
function contentOf(body: unknown): unknown {
  return (body as { messages: { content: unknown }[] }).messages[1]?.content;
}

test("an answer whose words were changed afterwards goes to Anthropic without its thinking", async () => {
  await using opened = await open("anthropic", firstly(thinkingStream));

  const answer = await opened.provider.complete(request(), options);
  await opened.provider.complete(request(after({ ...answer, text: "[erased]" })), options);

  expect(contentOf(opened.server.requests[1]?.body)).toMatchObject([{ type: "text" }, { type: "tool_use" }]);
});

test("an answer that was cut keeps no thoughts", async () => {
  await using opened = await open("anthropic", firstly(thinkingStream.replace('"tool_use"}', '"max_tokens"}')));

  const answer = await opened.provider.complete(request(), options);

  expect(answer).toMatchObject({ stop: "length", toolCalls: [] });
  expect(answer).not.toHaveProperty("thoughts");
});

function chunks(...deltas: readonly object[]): string {
  const last = { choices: [{ delta: {}, finish_reason: "tool_calls" }] };
  const all = [...deltas.map((delta) => ({ choices: [{ delta }] })), last];
  return all.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
}

const call = { index: 0, id: "call_1", type: "function", function: { name: "shell", arguments: '{"command":"ls"}' } };

test.each([
  [
    "DeepSeek",
    chunks({ reasoning_content: "let me " }, { reasoning_content: "look" }, { tool_calls: [call] }),
    { reasoning_content: "let me look" },
  ],
  [
    "OpenRouter",
    chunks(
      { reasoning: "hm", reasoning_details: [{ type: "reasoning.text", index: 0, text: "let me " }] },
      { reasoning_details: [{ type: "reasoning.text", index: 0, text: "look", signature: "c2ln" }] },
      { reasoning_details: [{ type: "reasoning.encrypted", index: 1, data: "ZW5j" }], tool_calls: [call] },
    ),
    {
      reasoning: "hm",
      reasoning_details: [
        { type: "reasoning.text", index: 0, text: "let me look", signature: "c2ln" },
        { type: "reasoning.encrypted", index: 1, data: "ZW5j" },
      ],
    },
  ],
  [
    "Gemini",
    chunks({ tool_calls: [{ ...call, extra_content: { google: { thought_signature: "c2ln" } } }] }),
    { tool_calls: [{ id: "call_1", extra_content: { google: { thought_signature: "c2ln" } } }] },
  ],
] as const)("what a model of %s has thought goes back in the field that it came in", async (_name, body, expected) => {
  await using opened = await open("openai", firstly(body));

  const answer = await opened.provider.complete(request(), options);
  await opened.provider.complete(request(after(answer)), options);

  expect(answer).toMatchObject({ text: "", toolCalls: [listing] });
  expect(opened.server.requests[1]?.body).toMatchObject({ messages: [{}, { role: "assistant", ...expected }, {}] });
});

test("a server that wants no thoughts back is asked again without them, and only once", async () => {
  const message = "property 'messages[1].reasoning_content' is unsupported";
  const body = chunks({ reasoning_content: "hm" }, { tool_calls: [call] });
  await using opened = await open("openai", ({ index }) =>
    index === 0 ? { fault: "raw", body } : index === 1 ? { fault: "status", status: 400, message } : { text: "done" },
  );

  const answer = await opened.provider.complete(request(), options);
  await opened.provider.complete(request(after(answer)), options);
  await opened.provider.complete(request(after(answer)), options);

  const sent = opened.server.requests.map(({ body: wire }) => JSON.stringify(wire).includes("reasoning_content"));
  expect(sent).toEqual([false, true, false, false]);
});

test("a model is shown its own thoughts, and never those of another one", async () => {
  const thoughts = [{ field: "reasoning_content", text: "a secret plan" }];
  const answer = {
    text: "I look.",
    toolCalls: [],
    stop: "end",
    usage: { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1 },
    thoughts,
  } as const;
  await using opened = await openModelCalls({ route: ["gpt/small"] });

  for (const model of ["gpt/small", "gpt/large", "claude/small"])
    await opened.models.complete({
      ...modelCall(),
      messages: [...after({ ...answer, model }).slice(0, 2), { role: "user", text: "go on" }],
    });

  const sent = opened.second.requests.map(({ body }) => JSON.stringify(body).includes("a secret plan"));
  expect(sent).toEqual([true, false, false]);
});

test("thoughts count in the prompt, and are erased with what was said", () => {
  const answer: ModelAnswer = {
    text: "Ann is ill.",
    toolCalls: [],
    stop: "end",
    usage: { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1 },
    model: "gpt/small",
    thoughts: [{ field: "reasoning_content", text: "Ann said that she is ill. ".repeat(20) }],
  };
  const { thoughts: _gone, ...without } = answer;
  const body: StepBody = { kind: "model", answer, denied: [] };
  const erasing = { people: [], names: [], messageIds: new Set<string>(), isTheirs: false };
  const erased = (holds: Erasing["holds"]): unknown => rewriteStep(body, { ...erasing, holds });

  expect(estimateStepTokens(body)).toBeGreaterThan(estimateStepTokens({ ...body, answer: without }) + 100);
  expect(JSON.stringify(erased((text) => text.includes("is ill")))).not.toContain("Ann");
  expect(JSON.stringify(erased((text) => text.includes("she is")))).toContain('"text":"Ann is ill."');
  expect(JSON.stringify(erased((text) => text.includes("she is")))).not.toContain("thoughts");
  expect(erased(() => false)).toBeUndefined();
});
