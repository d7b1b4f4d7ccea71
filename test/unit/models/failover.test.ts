import {
  type Arbitrary,
  array,
  assert,
  asyncProperty,
  boolean,
  constantFrom,
  oneof,
  option,
  record,
  tuple,
  uniqueArray,
} from "fast-check";
import { describe, expect, test } from "vitest";

import type { ModelMessage, ToolCall, ToolDefinition } from "../../../src/domain/turns/model.ts";
import type { BlobPart } from "../../../src/domain/chats/part.ts";
import { openProvider } from "../../../src/models/catalog.ts";
import type { ProviderRequest } from "../../../src/models/provider.ts";
import { efforts } from "../../../src/models/routes/routes.ts";
import { settingsOf, startStrictServer } from "../../support/model-servers/strict-server.ts";
import { strictVendors } from "../../support/model-servers/strict/vendors.ts";

const tools: readonly ToolDefinition[] = ["shell", "read_file"].map((name) => ({
  name,
  description: `The tool ${name}.`,
  inputSchema: { type: "object", properties: {} },
}));

/** Ids as vendors make them, some used twice: Kimi restarts counting in each turn. */
const ids = constantFrom(
  "toolu_01A09q90qw90lq917835lq9",
  "call_0fypS1hVXqwertyuiopasdfghjklzxcvbnm",
  "functions.shell:0",
  "functions.shell:1",
  "D681PevKs",
  "chatcmpl-tool-5f3a",
  "1",
);

const spokenWords = constantFrom("hello", "look \ud83d here", "a\n\nb");
const words = oneof(spokenWords, constantFrom("", " "));
const image: BlobPart = { kind: "image", blob: "ab".repeat(32), mimeType: "image/png", bytes: 9, name: "cat.png" };

const said: Arbitrary<ModelMessage> = oneof(
  spokenWords.map((text): ModelMessage => ({ role: "user", text })),
  spokenWords.map((text): ModelMessage => ({ role: "user", parts: [{ kind: "text", text }, image] })),
);

/** Calls of some model, and their results. Its thoughts stay with it. */
const step: Arbitrary<readonly ModelMessage[]> = record({
  text: words,
  calls: uniqueArray(ids, { minLength: 1, maxLength: 3 }),
  sees: boolean(),
}).map(({ text, calls, sees }) => {
  const toolCalls = calls.map((id, index): ToolCall => ({
    id,
    name: "shell",
    input: index === 0 ? {} : { command: "ls" },
  }));
  const results = toolCalls.map(({ id: callId }, index) =>
    sees && index === 0
      ? { callId, parts: [{ kind: "text" as const, text: "a plot" }, image], isError: true }
      : { callId, output: index === 1 ? "" : "done", isError: index === 2 },
  );
  return [
    { role: "assistant", text, toolCalls },
    { role: "tool", results },
  ];
});

/** Ends within calls of tools, or where people have the word; people may speak between two steps. */
const conversation = record({
  turns: array(record({ opening: said, steps: array(tuple(step, option(said)), { maxLength: 3 }) }), {
    maxLength: 2,
  }),
  last: said,
  open: array(tuple(step, option(said)), { maxLength: 2 }),
}).map(({ turns, last, open }): readonly ModelMessage[] => [
  ...turns.flatMap(({ opening, steps }) => [
    opening,
    ...steps.flatMap(([made, spoken]) => [...made, ...(spoken ? [spoken] : [])]),
    { role: "assistant" as const, text: "That is all.", toolCalls: [] },
  ]),
  last,
  ...open.flatMap(([made, spoken]) => [...made, ...(spoken ? [spoken] : [])]),
]);

const blind = ["deepseek", "groq", "ollama", "vllm", "llama.cpp"];

describe.each(Object.keys(strictVendors))("%s goes on with", (vendor) => {
  test("whatever others have said and done before, however it is to think", async () => {
    await using server = await startStrictServer(vendor, () => ({ text: "I go on." }));
    const provider = await openProvider("vendor", { ...settingsOf(vendor), baseUrl: server.url });
    const images = blind.includes(vendor) ? undefined : new Map([[image.blob, Buffer.from("a picture")]]);
    const asked = record({
      messages: conversation,
      thinking: option(constantFrom(...efforts), { nil: undefined }),
      temperature: option(constantFrom(0, 0.5), { nil: undefined }),
    });

    await assert(
      asyncProperty(asked, async ({ messages, thinking, temperature }) => {
        const request: ProviderRequest = {
          model: "some-model",
          system: ["You are crab."],
          messages,
          tools,
          maxOutputTokens: 20_000,
          images,
          thinking,
          temperature,
        };

        const answer = await provider.complete(request, { signal: new AbortController().signal });

        expect(answer.text).toBe("I go on.");
      }),
      { numRuns: 15 },
    );

    // What a model refuses it is asked without from then on.
    expect(server.requests.filter(({ refused }) => refused !== undefined).length).toBeLessThanOrEqual(8);
  });
});
