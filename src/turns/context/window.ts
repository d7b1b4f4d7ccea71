import type { ToolResult } from "../../domain/turns/model.ts";
import { describeParts, partsOf } from "../../domain/chats/part.ts";
import type { Step } from "../../domain/turns/turn.ts";
import { AppError } from "../../lib/app-error.ts";
import { cutMiddle } from "../../lib/text/cut-middle.ts";
import { resultNote } from "./result-note.ts";
import type { ResultPosition } from "./result-note.ts";
import { tokensOf } from "./compaction/cut.ts";
import { estimateStepTokens } from "./tokens.ts";

/** Characters kept of a shortened tool output: a reminder, so that a turn may have a thousand. */
const shortenedChars = 200;

/**
 * Steps whose oldest tool outputs are shortened when all of them together exceed the budget, down to half of it, so
 * that many answers come before the next cut and each prompt until then begins with the bytes of the one before it.
 * Goes through them as they grew: which ones are shortened depends on these steps only. Throws `context_too_large` when
 * that is not enough. `budgetTokens`: as `Step.tokens` counts them.
 */
export function shortenOutputs(steps: readonly Step[], budgetTokens: number): readonly Step[] {
  const fitting = shortenedToFit(steps, budgetTokens);
  if (fitting === undefined) throw tooLarge(budgetTokens);
  return fitting;
}

/** The same; undefined when that is not enough. */
export function shortenedToFit(steps: readonly Step[], budgetTokens: number): readonly Step[] | undefined {
  if (tokensOf(steps) <= budgetTokens) return steps;
  const sent: Step[] = [];
  let tokens = 0;
  let next = 0;
  for (const step of steps) {
    sent.push(step);
    tokens += step.tokens;
    if (tokens <= budgetTokens) continue;
    for (; next < sent.length && tokens > budgetTokens / 2; next += 1) {
      const full = sent[next];
      if (full === undefined) continue;
      const short = shorten(full);
      sent[next] = short;
      tokens += short.tokens - full.tokens;
    }
    if (tokens > budgetTokens) return undefined;
  }
  return sent;
}

function shorten(step: Step): Step {
  if (step.body.kind !== "tools") return step;
  const results = step.body.results.map((result, index) => shortenResult(result, { step, index }));
  const body = { kind: "tools", results } as const;
  return { ...step, body, tokens: Math.min(step.tokens, estimateStepTokens(body)) };
}

function shortenResult(result: ToolResult, place: ResultPosition): ToolResult {
  const { callId, isError } = result;
  const { head, tail, omitted } = cutMiddle(describeParts(partsOf(result)), shortenedChars);
  if (omitted === 0 && result.parts === undefined) return result;
  return { callId, output: omitted === 0 ? head : `${head}\n${resultNote(place, omitted)}\n${tail}`, isError };
}

function tooLarge(budgetTokens: number): AppError {
  return new AppError(
    "context_too_large",
    `This turn has grown larger than the ${Math.floor(budgetTokens)} tokens that the model has room for. Ask for less at once, or begin a new conversation with /new.`,
  );
}
