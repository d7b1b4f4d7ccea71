import { expect, test } from "vitest";

import { openProvider } from "../../../src/models/catalog.ts";
import type { Provider, ProviderRequest } from "../../../src/models/provider.ts";
import type { ModelScript, ModelServer } from "../../support/model-servers/model-server.ts";
import { startOpenAiServer } from "../../support/model-servers/openai.ts";

const request: ProviderRequest = {
  model: "some-model",
  system: ["You are crab.", "It is Monday."],
  messages: [{ role: "user", text: "hello" }],
  tools: [{ name: "shell", description: "Runs.", inputSchema: { type: "object" } }],
  maxOutputTokens: 1_000,
};

async function open(script: ModelScript): Promise<{ provider: Provider; server: ModelServer } & AsyncDisposable> {
  const server = await startOpenAiServer(script);
  const provider = await openProvider("local", { kind: "openai", apiKey: "none", baseUrl: server.url });
  return { provider, server, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

function streamOf(...chunks: readonly unknown[]): { fault: "raw"; body: string } {
  return { fault: "raw", body: chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("") };
}

function delta(content: object, finish_reason: string | null = null): object {
  return { choices: [{ delta: content, finish_reason }] };
}

const options = { signal: new AbortController().signal };

test("system sections become one system message, tools functions, and nothing else is asked for", async () => {
  await using opened = await open(() => ({ text: "hi" }));

  await opened.provider.complete(request, options);

  expect(opened.server.requests[0]?.body).toEqual({
    model: "some-model",
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: 1_000,
    messages: [
      { role: "system", content: "You are crab.\n\nIt is Monday." },
      { role: "user", content: "hello" },
    ],
    tools: [{ type: "function", function: { name: "shell", description: "Runs.", parameters: { type: "object" } } }],
  });
});

test.each([
  ["stream_options", "extra fields not permitted: stream_options", ["stream_options"], {}],
  [
    "the older name of the output limit",
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    ["max_tokens"],
    { max_completion_tokens: 1_000 },
  ],
  [
    "tools while the model would think",
    "Function tools with reasoning_effort are not supported for gpt-6-sol in /v1/chat/completions.",
    [],
    { reasoning_effort: "none" },
  ],
] as const)("a server that refuses %s is asked again without, and only once", async (_title, message, gone, added) => {
  await using opened = await open(({ index }) =>
    index === 0 ? { fault: "status", status: 400, message } : { text: "hi" },
  );

  await opened.provider.complete(request, options);
  await opened.provider.complete(request, options);

  expect(opened.server.requests).toHaveLength(3);
  for (const { body } of opened.server.requests.slice(1)) {
    expect(body).toMatchObject(added);
    for (const name of gone) expect(body).not.toHaveProperty(name);
  }
});

test("an output limit that is too high is an error, not a matter of its name", async () => {
  const message = "max_tokens is too large: 1000. This model supports at most 500 completion tokens.";
  await using opened = await open(() => ({ fault: "status", status: 400, message }));

  await expect(opened.provider.complete(request, options)).rejects.toMatchObject({ failure: "invalid" });
  expect(opened.server.requests).toHaveLength(1);
});

test("a server that refuses whatever is changed is given up", async () => {
  const message = "unknown: stream_options, reasoning_effort, max_tokens";
  await using opened = await open(() => ({ fault: "status", status: 400, message }));

  await expect(opened.provider.complete(request, options)).rejects.toMatchObject({ failure: "invalid" });
  expect(opened.server.requests).toHaveLength(4);
});

const twoCalls = [
  { name: "shell", input: { command: "a" } },
  { name: "shell", input: { command: "b" } },
];

test.each([
  [
    "mixes the pieces of parallel calls",
    [
      delta({ tool_calls: [{ index: 0, id: "x", function: { name: "shell", arguments: '{"comm' } }] }),
      delta({ tool_calls: [{ index: 1, id: "y", function: { name: "shell", arguments: '{"command"' } }] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: 'and":"a"}' } }] }),
      delta({ tool_calls: [{ index: 1, function: { arguments: ':"b"}' } }] }, "tool_calls"),
    ],
  ],
  [
    "gives all calls the same index",
    [
      delta({ tool_calls: [{ index: 0, id: "x", function: { name: "shell", arguments: '{"command":"a"}' } }] }),
      delta({ tool_calls: [{ index: 0, id: "y", function: { name: "shell", arguments: '{"command":"b"}' } }] }),
      delta({}, "stop"),
    ],
  ],
  [
    "leaves out indexes and sends objects",
    [
      delta({
        content: null,
        tool_calls: [
          { id: "x", function: { name: "shell", arguments: { command: "a" } } },
          { id: "y", function: { name: "shell", arguments: { command: "b" } } },
        ],
      }),
      delta({}, "tool_calls"),
    ],
  ],
  [
    "leaves out ids",
    [
      delta({ tool_calls: [{ index: 0, function: { name: "shell", arguments: '{"command":"a"}' } }] }),
      delta({ tool_calls: [{ index: 1, function: { name: "shell", arguments: '{"command":"b"}' } }] }, "tool_calls"),
    ],
  ],
  [
    "gives all calls the same id",
    [
      delta({
        tool_calls: [
          { index: 0, id: "call_0", function: { name: "shell", arguments: '{"command":"a"}' } },
          { index: 1, id: "call_0", function: { name: "shell", arguments: '{"command":"b"}' } },
        ],
      }),
      { choices: [{ finish_reason: "tool_calls" }] },
      { choices: [], usage: null },
    ],
  ],
] as const)("two calls are understood from a server that %s", async (_title, chunks) => {
  await using opened = await open(() => streamOf(...chunks));

  const answer = await opened.provider.complete(request, options);

  expect(answer.stop).toBe("tool-calls");
  expect(answer.toolCalls.map(({ name, input }) => ({ name, input }))).toEqual(twoCalls);
  expect(new Set(answer.toolCalls.map(({ id }) => id)).size).toBe(2);
});

test("a tool without parameters may come without an input", async () => {
  await using opened = await open(() =>
    streamOf(delta({ tool_calls: [{ index: 0, id: "x", function: { name: "shell" } }] }, "tool_calls")),
  );

  await expect(opened.provider.complete(request, options)).resolves.toMatchObject({ toolCalls: [{ input: {} }] });
});

test("an answer that ends without saying so counts as cut off", async () => {
  await using opened = await open(() => streamOf(delta({ content: "half" })));

  await expect(opened.provider.complete(request, options)).rejects.toMatchObject({ failure: "unavailable" });
});

test("an error in the middle of the stream is what the vendor calls it", async () => {
  await using opened = await open(() =>
    streamOf(delta({ content: "half" }), { error: { message: "slow down", type: "rate_limit_error", code: null } }),
  );

  await expect(opened.provider.complete(request, options)).rejects.toMatchObject({ failure: "rate-limited" });
});

test("a server that cannot list its models counts as reachable", async () => {
  await using opened = await open(() => ({ text: "hi" }));
  const elsewhere = await openProvider("local", {
    kind: "openai",
    apiKey: "none",
    baseUrl: `${opened.server.url}/other`,
  });

  await expect(elsewhere.check(options.signal)).resolves.toMatchObject({ ok: true });
});
