import { array, assert, constantFrom, integer, property, record, string } from "fast-check";
import { expect, test } from "vitest";

import { openProvider, providerDefinitions } from "../../../../src/models/catalog.ts";
import type { Effort, RouteEntry } from "../../../../src/models/routes/routes.ts";
import { orderFor } from "../../../../src/models/routes/routes.ts";
import { startAnthropicServer } from "../../../support/model-servers/anthropic.ts";
import type { ModelScript } from "../../../support/model-servers/model-server.ts";
import { startOpenAiServer } from "../../../support/model-servers/openai.ts";
import { codeAndText, modelCall, openModelCalls } from "../open-model-calls.ts";

const weighted: readonly RouteEntry[] = [
  { model: "claude/big", weight: 3 },
  { model: "gpt/big", weight: 1 },
  { model: "gpt/small" },
];

test("a conversation has the same order of models whenever it asks, and all conversations share as the weights say", () => {
  const counts = new Map<string, number>();
  for (let index = 0; index < 4_000; index += 1) {
    const [first, , last] = orderFor(weighted, `session:${index}`);
    counts.set(first?.model ?? "", (counts.get(first?.model ?? "") ?? 0) + 1);
    expect(last?.model).toBe("gpt/small");
    expect(orderFor(weighted, `session:${index}`)[0]).toBe(first);
  }

  // Three standard deviations of 4,000 draws are 82.
  expect(counts.get("claude/big")).toBeGreaterThan(2_900);
  expect(counts.get("claude/big")).toBeLessThan(3_100);
  expect(counts.has("gpt/small")).toBe(false);
});

test("whatever the weights, each model is asked once, and those without one stay in order behind the others", () => {
  const entry = record({
    model: constantFrom("a/1", "b/2", "c/3", "d/4"),
    weight: constantFrom(undefined, 0.5, 1, 900),
  });

  assert(
    property(array(entry, { maxLength: 6 }), string(), integer(), (entries, name, number) => {
      const ordered = orderFor(entries, `${name}:${number}`);

      expect(ordered).toHaveLength(entries.length);
      expect(new Set(ordered)).toEqual(new Set(entries));
      const plain = entries.filter(({ weight }) => weight === undefined);
      expect(ordered.slice(entries.length - plain.length)).toEqual(plain);
    }),
  );
});

test("an entry says how its model is asked", async () => {
  const entry = { model: "gpt/small", thinking: "low", temperature: 0.2, maxOutputTokens: 700 } as const;
  await using opened = await openModelCalls({ route: [entry] });

  await opened.models.complete(modelCall());

  expect(opened.second.requests[0]?.body).toMatchObject({
    reasoning_effort: "low",
    temperature: 0.2,
    max_tokens: 700,
  });
});

test.each([
  ["openai", "off", { reasoning_effort: "none" }],
  ["gemini", "high", { reasoning_effort: "high" }],
  ["deepseek", "off", { thinking: { type: "disabled" } }],
  ["deepseek", "low", { thinking: { type: "enabled" }, reasoning_effort: "low" }],
  ["kimi", "medium", { thinking: { type: "enabled" } }],
  ["qwen", "off", { enable_thinking: false }],
  ["openrouter", "high", { reasoning: { effort: "high" } }],
  ["openrouter", "off", { reasoning: { enabled: false } }],
  ["mistral", "high", { reasoning_effort: "high" }],
  ["groq", "low", { reasoning_effort: "low" }],
  ["xai", "low", { reasoning_effort: "low" }],
  ["ollama", "off", { reasoning_effort: "none" }],
  ["vllm", "off", { chat_template_kwargs: { enable_thinking: false } }],
  ["llama.cpp", "high", { chat_template_kwargs: { enable_thinking: true } }],
] as const)("a model of %s is told to think: %s", async (kind, thinking, expected) => {
  await using server = await startOpenAiServer(() => ({ text: "hi" }));

  await ask({ kind, thinking, baseUrl: server.url });

  expect(server.requests[0]?.body).toMatchObject(expected);
});

test("servers on the own machine need no key, and all others say that one is missing", async () => {
  await using server = await startOpenAiServer(() => ({ text: "hi" }));
  const options = { signal: new AbortController().signal };
  const request = {
    model: "m",
    system: [],
    messages: [{ role: "user", text: "hi" }],
    tools: [],
    maxOutputTokens: 9,
  } as const;

  for (const kind of ["ollama", "vllm", "llama.cpp"]) {
    const settings = providerDefinitions
      .find((definition) => definition.kind === kind)
      ?.config.parse({ baseUrl: server.url });
    await using provider = await openProvider("own", { kind, ...settings });
    await expect(provider.complete(request, options)).resolves.toMatchObject({ text: "hi" });
  }
  const needing = providerDefinitions.filter(({ config }) => !config.safeParse({}).success).map(({ kind }) => kind);
  expect(needing).toEqual([
    "anthropic",
    "openai",
    "gemini",
    "deepseek",
    "kimi",
    "qwen",
    "openrouter",
    "mistral",
    "groq",
    "xai",
  ]);
});

/** Models before efforts, and one before thinking. */
const olderModels: ModelScript = ({ body: sent }) => {
  const body = sent as Readonly<Record<string, unknown>>;
  if ("output_config" in body)
    return { fault: "status", status: 400, message: "adaptive thinking is not supported on this model" };
  if (body["model"] === "ancient" && "thinking" in body)
    return { fault: "status", status: 400, message: "'thinking' is not supported" };
  return { text: "hi" };
};

test("Anthropic's newer models are told an effort, older ones a number of tokens, and one that takes neither is still asked", async () => {
  await using older = await startAnthropicServer(olderModels);
  await using newer = await startAnthropicServer(() => ({ text: "hi" }));

  await ask({ kind: "anthropic", thinking: "medium", baseUrl: newer.url });
  await ask({ kind: "anthropic", thinking: "medium", baseUrl: older.url });
  await ask({ kind: "anthropic", thinking: "medium", baseUrl: older.url, model: "ancient" });

  expect(newer.requests[0]?.body).toMatchObject({
    thinking: { type: "adaptive" },
    output_config: { effort: "medium" },
  });
  expect(older.requests[1]?.body).toMatchObject({ thinking: { type: "enabled", budget_tokens: 3_000 } });
  expect(older.requests[4]?.body).not.toHaveProperty("thinking");
  expect(older.requests).toHaveLength(5);
});

test("a model that knows no effort is asked without one from then on", async () => {
  const message = "'reasoning_effort' is not supported with this model.";
  const script: ModelScript = ({ body }) =>
    "reasoning_effort" in (body as object) ? { fault: "status", status: 400, message } : { text: "hi" };
  await using server = await startOpenAiServer(script);

  await ask({ kind: "openai", thinking: "low", baseUrl: server.url });

  expect(server.requests.map(({ body }) => (body as Record<string, unknown>)["reasoning_effort"])).toEqual([
    "low",
    undefined,
  ]);
});

async function ask(wanted: { kind: string; thinking: Effort; baseUrl: string; model?: string }): Promise<void> {
  const { kind, thinking, baseUrl, model = "some-model" } = wanted;
  await using provider = await openProvider("vendor", { kind, apiKey: "none", baseUrl });
  await provider.complete(
    { model, system: [], messages: [{ role: "user", text: "hello" }], tools: [], maxOutputTokens: 10_000, thinking },
    { signal: new AbortController().signal },
  );
}

test("a provider that fails five times in a row is passed over for half a minute, then tried once, and asked again when it answers", async () => {
  let [now, isDown] = [0, true];
  await using opened = await openModelCalls({
    first: () => (isDown ? { fault: "status", status: 500 } : { text: "first" }),
    attempts: 3,
    now: () => now,
  });
  const answers = async (): Promise<string> => (await opened.models.complete(modelCall())).text;

  expect([await answers(), await answers(), await answers()]).toEqual(["second", "second", "second"]);
  expect(opened.first.requests).toHaveLength(5);
  now = 29_999;
  await answers();
  expect(opened.first.requests).toHaveLength(5);
  now = 30_000;
  await answers();
  expect(opened.first.requests).toHaveLength(6);
  now = 30_000 + 59_999;
  await answers();
  expect(opened.first.requests).toHaveLength(6);
  isDown = false;
  now = 90_000;
  expect([await answers(), await answers()]).toEqual(["first", "first"]);
});

test("where no other model is left, the error says when the provider is tried again; refusals of requests are no failures of it", async () => {
  await using down = await openModelCalls({
    first: () => ({ fault: "status", status: 500 }),
    route: ["claude/small"],
    attempts: 5,
  });
  await using strict = await openModelCalls({
    first: () => ({ fault: "status", status: 400 }),
    route: ["claude/small"],
  });

  await codeAndText(down.models.complete(modelCall()));
  expect((await codeAndText(down.models.complete(modelCall()))).message).toContain(
    "claude has failed again and again, so it is not asked; it is tried again in 30 s",
  );
  for (let count = 0; count < 6; count += 1) await codeAndText(strict.models.complete(modelCall()));
  expect(strict.first.requests).toHaveLength(6);
});
