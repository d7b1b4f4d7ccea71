import * as fc from "fast-check";
import { expect, test } from "vitest";

import { toModelMessages } from "../../../src/turns/context/model-messages.ts";
import type { Step, StepBody } from "../../../src/domain/turns/turn.ts";
import { toAnthropicRequest } from "../../../src/models/anthropic/anthropic-request.ts";
import { firstDialect } from "../../../src/models/openai/dialect.ts";
import { toOpenAiRequest } from "../../../src/models/openai/openai-request.ts";
import type { ProviderRequest } from "../../../src/models/provider.ts";
import { anyCharacter } from "../../support/any-character.ts";

const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1 };
const text = fc.string({ minLength: 1, maxLength: 12, unit: anyCharacter }).filter((said) => said.trim() !== "");

/**
 * One exchange: what is said, and calls (whose ids vendors may give several times) with what came of them, or an
 * answer.
 */
const exchange = fc
  .record({
    said: fc.array(text, { maxLength: 2 }),
    calls: fc.array(fc.constantFrom("a", "b", "call 1"), { maxLength: 3 }),
    text,
  })
  .map(({ said, calls, text: words }): StepBody[] => {
    const ids = [...new Set(calls)];
    const toolCalls = ids.map((id) => ({ id, name: "shell", input: { command: words } }));
    const stop = ids.length > 0 ? "tool-calls" : "end";
    return [
      ...said.map((each): StepBody => ({ kind: "user", text: each })),
      { kind: "model", answer: { text: words, toolCalls, stop, usage, model: "a/b" }, denied: [] },
      ...(ids.length === 0
        ? []
        : [{ kind: "tools" as const, results: ids.map((callId) => ({ callId, output: words, isError: false })) }]),
    ];
  });

/** The prompts that a vendor is sent as a conversation grows, each time before it answers. */
function promptsOf(bodies: readonly StepBody[], toBlocks: (request: ProviderRequest) => string[]): string[][] {
  const steps = bodies.map((body, index): Step => ({ seq: index + 1, turn: "t", at: index, tokens: 1, body }));
  const ends = steps.flatMap(({ body }, index) => (body.kind === "model" && index > 0 ? [index] : []));
  return ends.map((end) => {
    const messages = toModelMessages(steps.slice(0, end));
    return toBlocks({ model: "m", system: ["You are crab."], messages, tools: [], maxOutputTokens: 100 });
  });
}

/** Blocks as vendors cache them: where a mark stands is no part of what is cached. */
function anthropicBlocks(request: ProviderRequest): string[] {
  const { messages } = toAnthropicRequest(request);
  return messages.flatMap(({ role, content }) =>
    (content as object[]).map((block) => JSON.stringify([role, { ...block, cache_control: undefined }])),
  );
}

/** A message that grows by what comes next is told without its end. */
function openAiBlocks(request: ProviderRequest): string[] {
  const dialect = firstDialect({ effort: "effort", outputLimit: "max_completion_tokens" });
  return toOpenAiRequest(request, dialect).messages.map((message) => JSON.stringify(message).replace(/"\}$/, ""));
}

test.each([
  ["Anthropic", anthropicBlocks],
  ["OpenAI", openAiBlocks],
] as const)(
  "whatever is said and called, each prompt for %s begins with all of the one before it",
  (_vendor, toBlocks) => {
    fc.assert(
      fc.property(text, fc.array(exchange, { minLength: 1, maxLength: 8 }), (first, exchanges) => {
        const prompts = promptsOf([{ kind: "user", text: first }, ...exchanges.flat()], toBlocks);
        for (const [index, prompt] of prompts.slice(1).entries()) {
          const before = prompts[index] ?? [];
          const same = prompt.slice(0, before.length);
          expect(same.slice(0, -1)).toEqual(before.slice(0, -1));
          expect(same.at(-1)?.startsWith(before.at(-1) ?? "")).toBe(true);
        }
      }),
    );
  },
);

test("Anthropic is never sent more than the four marks that it takes", () => {
  fc.assert(
    fc.property(text, fc.array(exchange, { maxLength: 8 }), (first, exchanges) => {
      const steps = [{ kind: "user", text: first } as const, ...exchanges.flat()].map((body, index): Step => ({
        seq: index + 1,
        turn: "t",
        at: index,
        tokens: 1,
        body,
      }));
      const tool = { name: "shell", description: "Runs.", inputSchema: { type: "object" } };
      const messages = toModelMessages(steps);
      const body = toAnthropicRequest({
        model: "m",
        system: ["a", "b"],
        messages,
        tools: [tool, tool],
        maxOutputTokens: 1,
      });
      expect(JSON.stringify(body).split('"cache_control"').length - 1).toBeLessThanOrEqual(4);
    }),
  );
});
