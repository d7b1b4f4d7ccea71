import * as fc from "fast-check";
import { expect, test } from "vitest";

import { clearResults } from "../../../../src/turns/context/clear-results.ts";
import { toModelMessages } from "../../../../src/turns/context/model-messages.ts";
import { resultId } from "../../../../src/turns/context/result-note.ts";
import { estimateStepTokens } from "../../../../src/turns/context/tokens.ts";
import type { ToolResult } from "../../../../src/domain/turns/model.ts";
import { describeParts, partsOf } from "../../../../src/domain/chats/part.ts";
import type { Step, StepBody } from "../../../../src/domain/turns/turn.ts";

const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1 };
const room = 1_000_000;

/** A turn in which one tool answers for each of these lengths. */
function turn(...chars: readonly number[]): StepBody[] {
  const results = chars.map((length, index): ToolResult => ({
    callId: `c${index}`,
    output: "o".repeat(length),
    isError: false,
  }));
  const toolCalls = results.map(({ callId }) => ({ id: callId, name: "shell", input: {} }));
  const asked = { text: "", toolCalls, stop: "tool-calls", usage, model: "a/b" } as const;
  const said = { text: "done", toolCalls: [], stop: "end", usage, model: "a/b" } as const;
  return [
    { kind: "user", text: "go" },
    { kind: "model", answer: asked, denied: [] },
    { kind: "tools", results },
    { kind: "model", answer: said, denied: [] },
  ];
}

function history(...turns: readonly (readonly StepBody[])[]): Step[] {
  return turns
    .flatMap((bodies, index) => bodies.map((body) => ({ body, turn: `turn-number-${index}` })))
    .map(({ body, turn: id }, index) => ({
      seq: index + 1,
      turn: id,
      at: index,
      tokens: estimateStepTokens(body),
      body,
    }));
}

function outputs(steps: readonly Step[]): string[] {
  return steps.flatMap(({ body }) =>
    body.kind === "tools" ? body.results.map((result) => describeParts(partsOf(result))) : [],
  );
}

const warm = { clearedBefore: 0, isCold: false, budgetTokens: room };
const cold = { ...warm, isCold: true };

test("in a cold conversation long results older than the last three turns give their place to a line with their id", () => {
  const steps = history(turn(4_001, 4_000), turn(9_000), turn(9_000), turn(9_000));

  const { steps: shown, clearedBefore } = clearResults({ ...cold, steps });

  const [first, ...others] = outputs(shown);
  const [, , third] = steps;
  expect(first).toBe(
    `[4001 characters of this older output were left out to save space; read_result {"id": "${third && resultId({ step: third, index: 0 })}"} shows all of it]`,
  );
  expect(others.map(({ length }) => length)).toEqual([4_000, 9_000, 9_000, 9_000]);
  expect(clearedBefore).toBe(5);
  expect(shown[2]?.tokens).toBeLessThan(steps[2]?.tokens ?? 0);
});

test("in a warm one nothing is cleared until 20,000 tokens go at once, or all of it does not fit", () => {
  const steps = history(turn(30_000), turn(1), turn(1), turn(1));
  const more = history(turn(30_000, 31_000), turn(1), turn(1), turn(1));

  expect(clearResults({ ...warm, steps })).toEqual({ clearedBefore: 0, steps });
  expect(outputs(clearResults({ ...warm, steps: more }).steps)[0]).toContain("read_result");
  expect(outputs(clearResults({ ...warm, steps, budgetTokens: 9_000 }).steps)[0]).toContain("read_result");
});

test("where it does not fit, results of newer turns go too, one turn after the other, but never those of the running one", () => {
  const steps = history(turn(9_000), turn(9_000), turn(9_000), turn(9_000));
  const lengthsWithin = (budgetTokens: number): number[] =>
    outputs(clearResults({ ...warm, steps, budgetTokens }).steps).map(({ length }) => Math.min(length, 4_000));
  const [short, long] = [expect.toSatisfy((length: number) => length < 200) as number, 4_000];

  expect(lengthsWithin(10_000)).toEqual([short, long, long, long]);
  expect(lengthsWithin(7_000)).toEqual([short, short, long, long]);
  expect(lengthsWithin(4_000)).toEqual([short, short, short, long]);
  expect(lengthsWithin(10)).toEqual([short, short, short, long]);
});

test("what was cleared stays so in a warm conversation, and what has grown old since is left alone", () => {
  const steps = history(turn(9_000), turn(9_000), turn(1), turn(1), turn(1));

  const { steps: shown, clearedBefore } = clearResults({ ...warm, steps, clearedBefore: 5 });

  expect(outputs(shown).map(({ length }) => length < 4_000)).toEqual([true, false, true, true, true]);
  expect(clearedBefore).toBe(5);
});

test("images and whether it was an error are kept", () => {
  const image = { kind: "image", blob: "a".repeat(64), mimeType: "image/png", bytes: 9 } as const;
  const result: ToolResult = { callId: "c", isError: true, parts: [{ kind: "text", text: "x".repeat(5_000) }, image] };
  const steps = history([{ kind: "tools", results: [result] }], turn(1), turn(1), turn(1));

  const [first] = clearResults({ ...cold, steps }).steps;

  expect(first?.body).toEqual({
    kind: "tools",
    results: [
      { callId: "c", isError: true, parts: [{ kind: "text", text: expect.stringContaining("read_result") }, image] },
    ],
  });
});

test("whatever a conversation and its pauses are, each prompt begins with the one before it unless something was cleared, which then stays cleared", () => {
  const lengths = fc.array(fc.constantFrom(10, 4_000, 4_001, 30_000, 70_000), { maxLength: 3 });
  fc.assert(
    fc.property(fc.array(fc.record({ lengths, isCold: fc.boolean() }), { minLength: 1, maxLength: 12 }), (turns) => {
      const all = history(...turns.map((one) => turn(...one.lengths)));
      let [clearedBefore, before]: [number, string[]] = [0, []];
      for (const [index, { isCold }] of turns.entries()) {
        const ids = new Set(turns.slice(0, index + 1).map((_, number) => `turn-number-${number}`));
        const ofTurns = all.filter((step) => ids.has(step.turn));
        // Before each answer of the turn: only at its first one some time may have passed.
        for (const [asked, end] of [ofTurns.length - 3, ofTurns.length - 1].entries()) {
          const cleared = clearResults({
            steps: ofTurns.slice(0, end),
            clearedBefore,
            isCold: isCold && asked === 0,
            budgetTokens: room,
          });
          // As a host would that was restarted.
          const again = clearResults({ ...warm, steps: ofTurns.slice(0, end), clearedBefore: cleared.clearedBefore });
          const prompt = toModelMessages(cleared.steps).map((message) => JSON.stringify(message));
          expect(toModelMessages(again.steps).map((message) => JSON.stringify(message))).toEqual(prompt);
          expect(cleared.clearedBefore).toBeGreaterThanOrEqual(clearedBefore);
          const isSame = cleared.clearedBefore === clearedBefore;
          expect(isSame ? prompt.slice(0, before.length) : before).toEqual(before);
          [clearedBefore, before] = [cleared.clearedBefore, prompt];
        }
      }
    }),
  );
});
