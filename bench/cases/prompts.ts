import { clearResults } from "../../src/turns/context/clear-results.ts";
import { limitImages } from "../../src/turns/context/image-limit.ts";
import { toModelMessages } from "../../src/turns/context/model-messages.ts";
import { estimateStepTokens } from "../../src/turns/context/tokens.ts";
import { shortenOutputs } from "../../src/turns/context/window.ts";
import type { ModelMessage } from "../../src/domain/turns/model.ts";
import type { Step, StepBody } from "../../src/domain/turns/turn.ts";
import { openProvider } from "../../src/models/catalog.ts";
import type { BenchContext } from "../harness/bench.ts";
import { atMost, type Figure, figureOf } from "../harness/figure.ts";

const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1 };
const words = "the boat was number 4711, and nobody minded; ";
const bytes = 1_000_000;

/** Measures the host's work on a prompt: planning it, and making 1 MB of it into a request. */
export async function prompts({ quick, modelUrl }: BenchContext): Promise<Figure[]> {
  const runs = quick ? 20 : 100;
  const planned = [10, 100, 1_000, 10_000].map((count) => planning(count, runs));
  return [...planned, estimating(runs), await asking("openai", modelUrl, runs)];
}

/** All that is done with the steps between two answers of a model. */
function planning(count: number, runs: number): Figure {
  const steps = pastOf(count);
  const budgetTokens = Number.MAX_SAFE_INTEGER;
  const values = Array.from({ length: runs }, () =>
    timed(() => {
      const cleared = clearResults({ steps, clearedBefore: 1, isCold: false, budgetTokens });
      const shown = limitImages(shortenOutputs(cleared.steps, budgetTokens));
      toModelMessages(shown);
      return shown.reduce((sum, step) => sum + step.tokens, 0);
    }),
  );
  const target = atMost(20, "ms");
  return figureOf({ bench: "prompts", figure: `planning over ${count} steps`, unit: "ms", values, target });
}

/** A step is estimated once, when it is stored. */
function estimating(runs: number): Figure {
  const body = { kind: "user", text: words.repeat(bytes / words.length) } as const;
  const values = Array.from({ length: runs }, () => timed(() => estimateStepTokens(body)));
  return figureOf({ bench: "prompts", figure: "estimating 1 MB", unit: "ms", values, target: atMost(20, "ms") });
}

/** The longest time in which the host could do nothing else while it asked with a prompt of 1 MB. */
async function asking(kind: string, baseUrl: string, runs: number): Promise<Figure> {
  await using provider = await openProvider("bench", { kind, apiKey: "none", baseUrl });
  const messages: ModelMessage[] = toModelMessages(pastOf(400, bytes / 100));
  const request = { model: "bench", system: ["You are crab."], messages, tools: [], maxOutputTokens: 1_000 };
  const values: number[] = [];
  for (let run = -5; run < runs; run += 1) {
    const longest = await longestPause(() => provider.complete(request, { signal: AbortSignal.timeout(60_000) }));
    if (run >= 0) values.push(longest);
  }
  const target = atMost(20, "ms");
  return figureOf({ bench: "prompts", figure: `longest pause, 1 MB to ${kind}`, unit: "ms", values, target });
}

/** Turns of four steps each, with results of this many characters. */
function pastOf(count: number, chars = 1_500): Step[] {
  const toolCalls = [{ id: "c", name: "shell", input: { command: "ls" } }];
  const bodies: readonly StepBody[] = [
    { kind: "user", text: words.repeat(5) },
    { kind: "model", answer: { text: "", toolCalls, stop: "tool-calls", usage, model: "a/b" }, denied: [] },
    {
      kind: "tools",
      results: [{ callId: "c", output: words.repeat(Math.ceil(chars / words.length)), isError: false }],
    },
    { kind: "model", answer: { text: words, toolCalls: [], stop: "end", usage, model: "a/b" }, denied: [] },
  ];
  const tokens = bodies.map(estimateStepTokens);
  return Array.from({ length: count }, (_, index) => ({
    seq: index + 1,
    turn: `turn-${Math.floor(index / bodies.length)}`,
    at: index,
    tokens: tokens[index % bodies.length] ?? 0,
    body: bodies[index % bodies.length] ?? { kind: "user", text: "" },
  }));
}

async function longestPause(work: () => Promise<unknown>): Promise<number> {
  let [longest, isOver, last] = [0, false, performance.now()];
  const look = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await new Promise(setImmediate);
  await work();
  isOver = true;
  await new Promise(setImmediate);
  return longest;
}

function timed(work: () => unknown): number {
  const begun = performance.now();
  work();
  return performance.now() - begun;
}
