import * as fc from "fast-check";
import { expect, test } from "vitest";

import type { ToolCall, ToolResult } from "../../../src/domain/turns/model.ts";
import type { StepBody } from "../../../src/domain/turns/turn.ts";
import { TurnProgress } from "../../../src/turns/turn-progress.ts";

interface Round {
  readonly input: unknown;
  readonly output: string;
  readonly isError?: boolean;
}

const unlimited = 0;
const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1 };
const said: StepBody = { kind: "user", text: "go" };

function modelStep(toolCalls: readonly ToolCall[], denied: readonly ToolResult[] = []): StepBody {
  return { kind: "model", answer: { text: "", toolCalls, stop: "tool-calls", usage, model: "m/m" }, denied };
}

/** An answer with one call, and what came of it. */
function stepsOf({ input, output, isError = false }: Round, index: number): StepBody[] {
  const call = { id: `call-${index}`, name: "shell", input };
  return [modelStep([call]), { kind: "tools", results: [{ callId: call.id, output, isError }] }];
}

/** After how many of these rounds the turn is stopped, and for what; undefined: it is not. */
function stoppedAfter(rounds: readonly Round[], maxSteps = unlimited): { rounds: number; limit: string } | undefined {
  const progress = new TurnProgress();
  progress.add(said);
  for (const [index, round] of rounds.entries()) {
    for (const step of stepsOf(round, index)) progress.add(step);
    const hit = progress.limitHit(maxSteps);
    if (hit) return { rounds: index + 1, limit: hit.limit };
  }
  return undefined;
}

const round = (name: string): Round => ({ input: { command: name }, output: `${name}\n[exit code 0, 0.0 s]` });
const names = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 3, maxLength: 8 });

test("a turn in which each call brings something new is never taken for one that goes round", () => {
  const fresh = fc
    .nat({ max: 300 })
    .map((count) => Array.from({ length: count }, (_, index) => round(`call ${index}`)));

  fc.assert(
    fc.property(fresh, (rounds) => {
      expect(stoppedAfter(rounds)).toBeUndefined();
    }),
  );
});

test("a turn is stopped after as many answers as it may have, whatever they are", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), (maxSteps) => {
      const rounds = Array.from({ length: maxSteps + 5 }, (_, index) => round(`call ${index}`));

      expect(stoppedAfter(rounds, maxSteps)).toEqual({ rounds: maxSteps, limit: "turn-steps" });
    }),
  );
});

test("the same call with the same result is stopped the fifth time, however long it takes and its input is ordered", () => {
  const times = fc.array(fc.double({ min: 0, max: 9_999, noNaN: true }), { minLength: 5, maxLength: 9 });

  fc.assert(
    fc.property(times, (seconds) => {
      const rounds = seconds.map((time, index) => ({
        input: index % 2 === 0 ? { command: "make", timeout_s: 9 } : { timeout_s: 9, command: "make" },
        output: `failed\n[exit code 2, ${time.toFixed(1)} s]`,
      }));

      expect(stoppedAfter(rounds)).toEqual({ rounds: 5, limit: "repeats" });
    }),
  );
});

test("two calls that take turns are stopped after the fourth pair", () => {
  const rounds = Array.from({ length: 20 }, (_, index) => round(index % 2 === 0 ? "a" : "b"));

  expect(stoppedAfter(rounds)).toEqual({ rounds: 8, limit: "repeats" });
});

test("any circle is stopped within twelve rounds of having been gone through once", () => {
  fc.assert(
    fc.property(names, (circle) => {
      const rounds = Array.from({ length: 40 }, (_, index) => round(circle[index % circle.length] ?? ""));

      expect(stoppedAfter(rounds)?.rounds).toBeLessThanOrEqual(circle.length + 12);
    }),
  );
});

test("calls that only fail, each in another way, are stopped after twelve; one that works begins the count anew", () => {
  const failures: Round[] = Array.from({ length: 30 }, (_, index) => ({ ...round(`try ${index}`), isError: true }));

  expect(stoppedAfter(failures)).toEqual({ rounds: 12, limit: "no-progress" });
  expect(stoppedAfter(failures.with(6, round("works")))).toEqual({ rounds: 19, limit: "no-progress" });
});

test("the same call with another result each time is work", () => {
  const rounds = Array.from({ length: 50 }, (_, index) => ({
    input: { command: "git log" },
    output: `commit ${index}`,
  }));

  expect(stoppedAfter(rounds)).toBeUndefined();
});

test("what a member says in between begins anew", () => {
  const progress = new TurnProgress();
  for (let index = 0; index < 20; index += 1) {
    for (const step of stepsOf(round("date"), index)) progress.add(step);
    if (index % 4 === 3) progress.add(said);
    expect(progress.limitHit(unlimited)).toBeUndefined();
  }
});

test("calls that are denied count like those that fail", () => {
  const progress = new TurnProgress();
  for (let index = 0; index < 5; index += 1) {
    expect(progress.limitHit(unlimited)).toBeUndefined();
    progress.add(modelStep([{ id: "a", name: "shell", input: {} }], [{ callId: "a", output: "no", isError: true }]));
  }

  expect(progress.limitHit(unlimited)).toMatchObject({ limit: "repeats", value: 5 });
});
