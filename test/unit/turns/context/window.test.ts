import * as fc from "fast-check";
import { expect, test } from "vitest";

import { toModelMessages } from "../../../../src/turns/context/model-messages.ts";
import { estimatePromptTokens, estimateStepTokens } from "../../../../src/turns/context/tokens.ts";
import { planEviction, tokensOf } from "../../../../src/turns/context/compaction/cut.ts";
import { shortenOutputs } from "../../../../src/turns/context/window.ts";
import type { ModelMessage, ToolCall } from "../../../../src/domain/turns/model.ts";
import type { Step, StepBody } from "../../../../src/domain/turns/turn.ts";

/** Steps of turns that are given as lists of bodies. */
function history(...turns: readonly (readonly StepBody[])[]): Step[] {
  return turns
    .flatMap((bodies, turn) => bodies.map((body) => ({ body, turn: `turn${turn}` })))
    .map(({ body, turn }, index) => ({ seq: index + 1, turn, at: index, tokens: estimateStepTokens(body), body }));
}

/** Plan of a turn without available summaries. */
function planWindow({
  steps,
  windowStart,
  budgetTokens,
}: {
  readonly steps: readonly Step[];
  readonly windowStart: number;
  readonly budgetTokens: number;
}): { readonly steps: readonly Step[]; readonly windowStart: number } {
  const visible = steps.filter(({ seq }) => seq >= windowStart);
  if (tokensOf(visible) <= budgetTokens) return { steps: visible, windowStart };
  const kept = visible.slice(planEviction(visible, budgetTokens / 2));
  return { steps: shortenOutputs(kept, budgetTokens), windowStart: kept[0]?.seq ?? windowStart };
}

function user(text: string): StepBody {
  return { kind: "user", text };
}

function model(text: string, ...ids: readonly string[]): StepBody {
  const toolCalls: ToolCall[] = ids.map((id) => ({ id, name: "shell", input: { command: "ls" } }));
  const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1 };
  return {
    kind: "model",
    answer: { text, toolCalls, stop: ids.length > 0 ? "tool-calls" : "end", usage, model: "offline/scripted" },
    denied: [],
  };
}

function tools(outputs: Readonly<Record<string, string>>): StepBody {
  return {
    kind: "tools",
    results: Object.entries(outputs).map(([callId, output]) => ({ callId, output, isError: false })),
  };
}

test("a conversation becomes messages, with results in the order of their calls", () => {
  const messages = toModelMessages(
    history([user("go"), model("", "a", "b"), tools({ b: "two", a: "one" }), user("hurry"), model("done")]),
  );

  expect(messages.map((message) => message.role)).toEqual(["user", "assistant", "tool", "user", "assistant"]);
  expect(messages[2]).toEqual({
    role: "tool",
    results: [
      { callId: "a", output: "one", isError: false },
      { callId: "b", output: "two", isError: false },
    ],
  });
});

test("a denied call has its refusal as result, among those of the others", () => {
  const denied = {
    ...model("", "a", "b"),
    denied: [{ callId: "a", output: "not allowed", isError: true }],
  } as StepBody;

  expect(toModelMessages(history([user("go"), denied, tools({ b: "two" })]))[2]).toEqual({
    role: "tool",
    results: [
      { callId: "a", output: "not allowed", isError: true },
      { callId: "b", output: "two", isError: false },
    ],
  });
});

test("a call that was interrupted says so, before what came next", () => {
  const messages = toModelMessages(history([user("go"), model("", "a")], [user("and now?")]));

  expect(messages.slice(2)).toEqual([
    { role: "tool", results: [{ callId: "a", output: "interrupted, result unknown", isError: true }] },
    { role: "user", text: "and now?" },
  ]);
});

test("a history that begins in the middle begins with the next message of a user", () => {
  expect(toModelMessages(history([tools({ a: "one" }), model("half")], [user("hello")]))).toEqual([
    { role: "user", text: "hello" },
  ]);
  expect(toModelMessages(history([model("half")]))).toEqual([]);
});

test("while all fits, all of it is sent", () => {
  const steps = history([user("one"), model("1")], [user("two")]);

  expect(planWindow({ steps, windowStart: 0, budgetTokens: 1_000 })).toEqual({ windowStart: 0, steps });
  expect(planWindow({ steps, windowStart: 3, budgetTokens: 1_000 }).steps).toEqual(steps.slice(2));
});

test("when it no longer fits, whole turns leave until half of the room is free", () => {
  const turn = [user("x".repeat(300)), model("y".repeat(300))];
  const steps = history(turn, turn, turn, turn, turn);

  const window = planWindow({ steps, windowStart: 1, budgetTokens: 900 });

  expect(window.windowStart).toBe(7);
  expect(window.steps).toEqual(steps.slice(6));
});

test("a turn that alone is too large keeps its shape and shortens its oldest outputs", () => {
  const output = "z".repeat(9_000);
  const steps = history([
    user("go"),
    model("", "a"),
    tools({ a: output }),
    model("", "b"),
    tools({ b: output }),
    model("", "c"),
    tools({ c: output }),
  ]);

  const window = planWindow({ steps, windowStart: 1, budgetTokens: 8_000 });

  const outputs = window.steps.flatMap(({ body }) => (body.kind === "tools" ? body.results.map((r) => r.output) : []));
  expect(outputs[0]).toMatch(
    /^z+\n\[8800 characters of this older output were left out to save space; read_result \{"id": "turn0-[0-9a-f]{8}"\} shows all of it\]\nz+$/,
  );
  expect(outputs[1]).not.toBe(output);
  expect(outputs[2]).toBe(output);
  expect(window.steps.map((step) => step.seq)).toEqual(steps.map((step) => step.seq));
});

test("a turn that is too large without any outputs is refused", () => {
  const steps = history([user("x".repeat(10_000))]);

  expect(() => planWindow({ steps, windowStart: 0, budgetTokens: 500 })).toThrow(
    expect.objectContaining({ code: "context_too_large" }),
  );
});

test("estimates of steps add up to that of the prompt", () => {
  const steps = history([user("go"), model("so", "a"), tools({ a: "one" }), model("done")]);

  const messages = estimatePromptTokens({ system: [], messages: toModelMessages(steps), tools: [] });

  expect(messages).toBe(steps.reduce((sum, step) => sum + step.tokens, 0));
});

const word = fc.string({ minLength: 1, maxLength: 60 });
const callIds = fc.uniqueArray(fc.constantFrom("a", "b", "c"), { minLength: 1 });

/** A turn as it really happens: asked, worked on in rounds, then answered, or left lying at any point. */
const turnBodies = fc
  .record({
    text: word,
    rounds: fc.array(fc.record({ ids: callIds, output: fc.string({ maxLength: 2_000 }), said: fc.option(word) }), {
      maxLength: 4,
    }),
    answer: word,
    interruptedAt: fc.option(fc.nat({ max: 8 })),
  })
  .map(({ text, rounds, answer, interruptedAt }) => {
    const worked = rounds.flatMap(({ ids, output, said }) => [
      model("", ...ids),
      tools(Object.fromEntries(ids.map((id) => [id, output]))),
      ...(said === null ? [] : [user(said)]),
    ]);
    const bodies = [user(text), ...worked, model(answer)];
    return interruptedAt === null ? bodies : bodies.slice(0, interruptedAt + 1);
  });

/** Any steps at all, in any order. */
const anyBody = fc.oneof(
  fc.string({ maxLength: 20 }).map(user),
  fc
    .tuple(fc.string({ maxLength: 20 }), fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 3 }))
    .map(([text, ids]) => model(text, ...ids)),
  fc.dictionary(fc.constantFrom("a", "b", "c", "x"), fc.string({ maxLength: 20 })).map(tools),
);

/** Faults of a conversation: each call needs its result after it, and a user begins. */
function faultsOf(messages: readonly ModelMessage[]): string[] {
  const faults = messages.length > 0 && messages[0]?.role !== "user" ? ["it does not begin with a user"] : [];
  for (const [index, message] of messages.entries()) {
    const next = messages[index + 1];
    const results = next?.role === "tool" ? next.results.map(({ callId }) => callId) : [];
    const calls = message.role === "assistant" ? message.toolCalls.map(({ id }) => id) : [];
    if (calls.join() !== results.join())
      faults.push(`message ${index} has calls ${calls.join()} but results ${results.join()}`);
  }
  return faults;
}

test("whatever the history, each call has its result and each result its call, and a user begins", () => {
  fc.assert(
    fc.property(fc.array(fc.array(anyBody, { maxLength: 6 }), { maxLength: 5 }), (turns) => {
      expect(faultsOf(toModelMessages(history(...turns)))).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test("each prompt begins with the one before it, unless a cut was made, and a cut leaves at most half or one turn", () => {
  const turns = fc.array(turnBodies, { maxLength: 6 });
  const budgets = fc.integer({ min: 900, max: 4_000 });

  fc.assert(
    fc.property(turns, budgets, (bodies, budgetTokens) => {
      const steps = history(...bodies);
      let windowStart = 0;
      let before: readonly string[] = [];
      for (const length of asked(steps)) {
        const known = steps.slice(0, length);
        const window = planWindow({ steps: known, windowStart, budgetTokens });
        const messages = toModelMessages(window.steps);
        const sent = messages.map((message) => JSON.stringify(message));
        const isCut = window.windowStart !== windowStart;
        const isShortened = total(window.steps) !== total(known.filter((step) => step.seq >= window.windowStart));
        const isOneTurn = new Set(window.steps.map((step) => step.turn)).size === 1;

        expect(total(window.steps)).toBeLessThanOrEqual(isCut && !isOneTurn ? budgetTokens / 2 : budgetTokens);
        expect(faultsOf(messages)).toEqual([]);
        expect(isCut || isShortened || before.every((text, index) => sent[index] === text)).toBe(true);
        windowStart = window.windowStart;
        before = sent;
      }
    }),
    { numRuns: 300 },
  );
});

test("a turn that outgrows the room is shortened in chunks: most of its prompts begin with the one before", () => {
  const rounds = Array.from({ length: 40 }, (_, index) => [model("", "a"), tools({ a: `${index}`.repeat(1_500) })]);
  const steps = history([user("go"), ...rounds.flat()]);
  let changes = 0;
  let before: string[] = [];
  for (const length of asked(steps)) {
    const window = planWindow({ steps: steps.slice(0, length), windowStart: 1, budgetTokens: 20_000 });
    const messages = toModelMessages(window.steps).map((message) => JSON.stringify(message));
    if (!before.every((message, index) => messages[index] === message)) changes += 1;
    before = messages;
  }

  expect(changes).toBeGreaterThan(1);
  expect(changes).toBeLessThan(8);
});

/** Number of steps at each request: after a user's message or complete results. */
function asked(steps: readonly Step[]): number[] {
  return steps.flatMap((step, index) => (step.body.kind === "model" ? [] : [index + 1]));
}

function total(steps: readonly Step[]): number {
  return steps.reduce((sum, step) => sum + step.tokens, 0);
}
