import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { openProvider } from "../../../src/models/catalog.ts";
import type { Provider, ProviderRequest } from "../../../src/models/provider.ts";
import { startAnthropicServer } from "../../support/model-servers/anthropic.ts";
import type { ModelScript, ModelServer, ScriptedReply } from "../../support/model-servers/model-server.ts";
import { startOpenAiServer } from "../../support/model-servers/openai.ts";
import { startResponsesServer } from "../../support/model-servers/responses.ts";

const key = "live.0123456789abcdef";
const request: ProviderRequest = {
  model: "some-model",
  system: ["You are crab."],
  messages: [{ role: "user", text: "hello" }],
  tools: [{ name: "shell", description: "Runs.", inputSchema: { type: "object" } }],
  maxOutputTokens: 1_000,
};

interface Opened extends AsyncDisposable {
  readonly provider: Provider;
  readonly server: ModelServer;
}

const vendors = {
  anthropic: { settings: { kind: "anthropic" }, start: startAnthropicServer },
  openai: { settings: { kind: "openai" }, start: startOpenAiServer },
  responses: { settings: { kind: "openai", api: "responses" }, start: startResponsesServer },
} as const;

async function open(
  kind: keyof typeof vendors,
  script: ModelScript | ScriptedReply,
  silenceMs = 20_000,
): Promise<Opened> {
  const { settings, start } = vendors[kind];
  const server = await start(typeof script === "function" ? script : () => script);
  const provider = await openProvider("vendor", { ...settings, apiKey: key, baseUrl: server.url }, { silenceMs });
  return { provider, server, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

function complete(provider: Provider, signal = new AbortController().signal): ReturnType<Provider["complete"]> {
  return provider.complete(request, { signal });
}

// All of them wait at the same time.
test.concurrent.each(["anthropic", "openai", "responses"] as const)(
  "a call to %s that falls silent in the middle ends, and tells what it has cost",
  async (kind) => {
    // So long that the beginning is not late, however slow the machine is.
    await using opened = await open(kind, { fault: "silence", answer: { text: "so far so good" } }, 5_000);
    const counts: unknown[] = [];

    const call = opened.provider.complete(request, {
      signal: new AbortController().signal,
      onUsage: (usage) => counts.push(usage),
    });

    await expect(call).rejects.toMatchObject({ failure: "unavailable" });
    expect(counts).toEqual([expect.objectContaining({ outputTokens: expect.toSatisfy((count: number) => count > 3) })]);
  },
);

describe.each(["anthropic", "openai", "responses"] as const)("a call to %s", (kind) => {
  test.each([
    ["is told to slow down", { status: 429, headers: { "retry-after": "7" } }, "rate-limited", 7_000],
    ["is told the wait in milliseconds", { status: 429, headers: { "retry-after-ms": "250" } }, "rate-limited", 250],
    ["meets an overloaded vendor", { status: 529 }, "overloaded", undefined],
    ["meets a vendor that is away", { status: 503 }, "overloaded", undefined],
    ["meets a broken vendor", { status: 500 }, "unavailable", undefined],
    ["has a wrong key", { status: 401 }, "auth", undefined],
    ["has no right to the model", { status: 403 }, "auth", undefined],
    ["names an unknown model", { status: 404 }, "invalid", undefined],
    ["is refused as such", { status: 400, message: "tools.0: bad schema" }, "invalid", undefined],
    ["is too long", { status: 400, message: "prompt is too long: 210000 tokens > 200000" }, "too-long", undefined],
    ["is too large to be read", { status: 413 }, "too-long", undefined],
    ["is sent elsewhere", { status: 302, headers: { location: "http://127.0.0.1:1/" } }, "invalid", undefined],
  ] as const)("that %s fails as what it is", async (_title, fault, failure, retryAfterMs) => {
    await using opened = await open(kind, { fault: "status", ...fault });

    const call = complete(opened.provider);

    await expect(call).rejects.toMatchObject({ name: "ProviderError", failure, retryAfterMs });
    expect(opened.server.requests).toHaveLength(1);
  });

  test("understands a date to come back at, by the vendor's own clock", async () => {
    const headers = { date: "Thu, 15 Jan 2026 18:30:00 GMT", "retry-after": "Thu, 15 Jan 2026 18:30:12 GMT" };
    await using opened = await open(kind, { fault: "status", status: 429, headers });

    await expect(complete(opened.provider)).rejects.toMatchObject({ retryAfterMs: 12_000 });
  });

  test.each([
    ["is cut off in the middle", { fault: "cut", answer: { text: "The first half of a longer answer" } }],
    ["is hung up on", { fault: "hang-up" }],
    ["gets an event that is not JSON", { fault: "raw", body: 'event: message_start\ndata: {"type":"mess\n\n' }],
    ["gets events of another protocol", { fault: "raw", body: 'event: message_start\ndata: {"choices":7}\n\n' }],
    ["gets garbage", { fault: "raw", body: "\u0000\u0001 nothing of use" }],
    ["gets nothing", { fault: "raw", body: "" }],
    ["gets a web page", { fault: "raw", body: "<html><h1>Welcome</h1></html>", contentType: "text/html" }],
    [
      "gets a web page as an error",
      {
        fault: "status",
        status: 502,
        body: "<html><h1>Bad gateway</h1></html>",
        headers: { "content-type": "text/html" },
      },
    ],
    ["is asked for a tool without a name", { toolCalls: [{ name: "", input: {} }] }],
    ["is asked for a hundred tools", { toolCalls: Array.from({ length: 100 }, () => ({ name: "shell", input: {} })) }],
  ] as const)("that %s counts as unavailable", async (_title, reply) => {
    await using opened = await open(kind, reply);

    await expect(complete(opened.provider)).rejects.toMatchObject({ name: "ProviderError", failure: "unavailable" });
  });

  test("that nobody answers ends after the silence that it may take", async () => {
    await using opened = await open(kind, { fault: "silence" }, 50);

    await expect(complete(opened.provider)).rejects.toMatchObject({
      failure: "unavailable",
      message: expect.stringContaining("nothing was received for 0.05 s"),
    });
  });

  test("that nobody listens to fails as unavailable", async () => {
    const opened = await open(kind, { text: "hello" });
    await opened[Symbol.asyncDispose]();

    await expect(complete(opened.provider)).rejects.toMatchObject({ failure: "unavailable" });
    await expect(opened.provider.check(new AbortController().signal)).resolves.toMatchObject({ ok: false });
  });

  test("that is aborted in the middle ends with the reason for it and lets go of the connection", async () => {
    await using opened = await open(kind, { fault: "silence", answer: { text: "a long story begins" } });
    const stop = new AbortController();
    const reason = new Error("the turn was stopped");

    const call = opened.provider.complete(request, { signal: stop.signal, onDelta: () => stop.abort(reason) });

    await expect(call).rejects.toBe(reason);
  });

  test("keeps the key and passwords out of its errors", async () => {
    const message = `Incorrect key ${key} for https://ann:secret@proxy.example/v1, sent as Bearer abcdef123456`;
    await using opened = await open(kind, { fault: "status", status: 401, message });

    const error = await complete(opened.provider).catch((caught: unknown) => caught);

    const shown = JSON.stringify(error, Object.getOwnPropertyNames(error));
    expect(shown).toContain("Incorrect key");
    expect(shown).not.toMatch(/0123456789|secret|abcdef123456/);
  });

  test("that has used up the account's money is not tried again", async () => {
    const kindOfError = kind === "anthropic" ? "billing_error" : "insufficient_quota";
    await using opened = await open(kind, { fault: "status", status: 429, kind: kindOfError, message: "no credit" });

    await expect(complete(opened.provider)).rejects.toMatchObject({ failure: "auth" });
  });

  test("takes an answer of a million characters, and text that is cut through the middle of emoji", async () => {
    const text = "A story with 😀 in it. ".repeat(45_000);
    await using opened = await open(kind, { text, pieceChars: 1_001 });

    const answer = await complete(opened.provider);

    expect(answer.text).toBe(text);
  });

  test("that is cut at the output limit keeps its text and says so, and half a tool call is no call", async () => {
    await using opened = await open(kind, {
      text: "I will write",
      toolCalls: [{ name: "shell", input: {} }],
      stop: "length",
    });

    await expect(complete(opened.provider)).resolves.toMatchObject({
      text: "I will write",
      toolCalls: [],
      stop: "length",
    });
  });

  test("that the vendor declines says so", async () => {
    await using opened = await open(kind, { text: "I cannot help with that.", stop: "refusal" });

    await expect(complete(opened.provider)).resolves.toMatchObject({ stop: "refusal" });
  });

  test("counts as the vendor counts", async () => {
    await using opened = await open(kind, { text: "hi", usage: { input: 1_200, cached: 1_000, output: 34 } });

    await expect(complete(opened.provider)).resolves.toMatchObject({
      usage: { inputTokens: 1_200, cachedInputTokens: 1_000, outputTokens: 34 },
    });
  });

  test("counts itself where the vendor does not", async () => {
    await using opened = await open(kind, { text: "a few words", usage: null });

    const { usage } = await complete(opened.provider);

    expect(usage.inputTokens).toBeGreaterThan(20);
    expect(usage.outputTokens).toBeGreaterThan(2);
  });

  test("sends no lone surrogates, empty texts or results, and each call id once", async () => {
    await using opened = await open(kind, { text: "fine" });
    const calls = [
      { id: "functions.shell:0", name: "shell", input: { command: "\ud800" } },
      { id: "functions.shell:0", name: "shell", input: {} },
    ];

    await opened.provider.complete(
      {
        ...request,
        system: ["", "Be \udfff brief."],
        messages: [
          { role: "user", text: "one \ud83d" },
          { role: "user", text: "  " },
          { role: "assistant", text: "", toolCalls: calls.slice(0, 1) },
          { role: "tool", results: [{ callId: "functions.shell:0", output: "", isError: false }] },
          { role: "assistant", text: "", toolCalls: [] },
          { role: "assistant", text: "", toolCalls: calls.slice(1) },
          { role: "tool", results: [{ callId: "functions.shell:0", output: "done", isError: true }] },
        ],
      },
      { signal: new AbortController().signal },
    );

    const [sent] = opened.server.requests;
    const text = JSON.stringify(sent?.body);
    expect(text).not.toMatch(/\\ud[89a-f]/i);
    expect(sent?.system).toBe("Be \ufffd brief.");
    expect(sent?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "tool"]);
    expect(sent?.messages[2]?.text).toBe("(no output)");
    const ids = [...text.matchAll(/"(?:tool_use_id|tool_call_id|call_id|id)":"([^"]*)"/g)].map(([, id]) => id);
    expect(ids).toEqual(["functions_shell_0", "functions_shell_0", "functions_shell_0_2", "functions_shell_0_2"]);
  });

  test("without a message in it is refused before it is sent", async () => {
    await using opened = await open(kind, { text: "fine" });

    const call = opened.provider.complete(
      { ...request, messages: [{ role: "user", text: " " }] },
      { signal: new AbortController().signal },
    );

    await expect(call).rejects.toMatchObject({ failure: "invalid" });
    expect(opened.server.requests).toHaveLength(0);
  });
});

describe.each(["anthropic", "openai", "responses"] as const)(
  "the environment of the process does not reach %s",
  (kind) => {
    const names = [
      "OPENAI_API_KEY",
      "OPENAI_ORG_ID",
      "OPENAI_PROJECT_ID",
      "ANTHROPIC_API_KEY",
      "ANTHROPIC_AUTH_TOKEN",
    ] as const;
    const headers = "X-Planted: planted-value\nAuthorization: Bearer planted-value\nX-Api-Key: planted-value";

    beforeEach(() => {
      for (const name of names) process.env[name] = "planted-value";
      for (const vendor of ["OPENAI", "ANTHROPIC"]) {
        process.env[`${vendor}_BASE_URL`] = "http://127.0.0.1:1/planted";
        process.env[`${vendor}_CUSTOM_HEADERS`] = headers;
      }
    });

    afterEach(() => {
      for (const name of Object.keys(process.env)) if (/^(OPENAI|ANTHROPIC)_/.test(name)) delete process.env[name];
    });

    test("only our own headers are sent", async () => {
      await using opened = await open(kind, { text: "hello" });

      await complete(opened.provider);

      const sent = opened.server.requests[0]?.headers ?? {};
      expect(JSON.stringify(sent)).not.toContain("planted");
      expect(kind === "anthropic" ? sent["x-api-key"] : sent["authorization"]).toContain(key);
      const own = Object.keys(sent).filter((name) => !/^(host|connection|accept|content-|user-agent)/.test(name));
      expect(own.toSorted()).toEqual(kind === "anthropic" ? ["anthropic-version", "x-api-key"] : ["authorization"]);
    });
  },
);

test.each([
  [
    400,
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion).",
  ],
  [
    400,
    "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length is 8192 tokens and your request has 7000 input tokens (2000 > 8192 - 7000).",
  ],
  [400, "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it"],
  [
    422,
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 9000 `inputs` tokens and 100 `max_new_tokens`",
  ],
  [400, "Prompt contains 9000 tokens and 0 draft tokens, too large for model with 8192 maximum context length"],
  [400, "The input (9000 tokens) is longer than the model's context length (8192 tokens)."],
  [400, "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 8192]"],
  [400, "However, the model is loaded with context length of only 8192 tokens, which is not enough."],
  [400, "Invalid request: Your request exceeded model token limit: 8192"],
  [400, "The input token count (9000) exceeds the maximum number of tokens allowed (8192)."],
  [400, "This model's maximum prompt length is 8192 but the request contains 9000 tokens."],
  [400, "prompt is too long: 9000 tokens > 8192 maximum"],
  [
    400,
    "input length and `max_tokens` exceed context limit: 8000 + 1000 > 8192, decrease input length or `max_tokens` and try again",
  ],
  [413, "Request too large for model on tokens per minute (TPM): Limit 8192, Requested 9000, please reduce it"],
])(
  "a refusal (%s) in its vendor's words says that a prompt is too long, and how large the window is: %s",
  async (status, message) => {
    await using opened = await open("openai", { fault: "status", status, message });

    await expect(complete(opened.provider)).rejects.toMatchObject({ failure: "too-long", windowTokens: 8_192 });
  },
);
