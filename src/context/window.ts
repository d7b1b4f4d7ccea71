import type { ToolResult } from "../domain/model.ts";
import { describeParts, partsOf } from "../domain/part.ts";
import type { Step } from "../domain/turn.ts";
import { AppError } from "../lib/app-error.ts";
import { cutMiddle } from "../lib/text/cut-middle.ts";
import { estimateStepTokens } from "./tokens.ts";

/** What is left of a tool's output that was shortened: a reminder of what it was, so that a turn may have a thousand of them. */
const shortenedChars = 200;

export interface Window {
  /** First step that is sent; to be given again the next time. */
  readonly windowStart: number;
  /** What is sent, oldest first. */
  readonly steps: readonly Step[];
}

/**
 * Decides what of a history is sent to the model. As long as it fits, all of it from `windowStart` on. When it does not,
 * whole old turns leave at once until at most half of the budget is used (or only the newest turn is left), so that many
 * answers come before the next cut, and between two cuts each prompt begins with the bytes of the one before it: vendors
 * charge a tenth or less for what they have seen.
 *
 * A newest turn that alone exceeds the budget keeps its shape, but its oldest tool outputs are shortened, again down to half of
 * the budget. Which ones depends on the turn's steps only. Throws `context_too_large` when that is not enough.
 */
export function planWindow(input: {
  readonly steps: readonly Step[];
  readonly windowStart: number;
  /** For the steps alone, in tokens as `Step.tokens` counts them. */
  readonly budgetTokens: number;
}): Window {
  const { budgetTokens, windowStart } = input;
  const visible = input.steps.filter((step) => step.seq >= windowStart);
  if (tokensOf(visible) <= budgetTokens) return { windowStart, steps: visible };
  const kept = dropOldTurns(visible, budgetTokens / 2);
  const steps = tokensOf(kept) <= budgetTokens ? kept : shortenOutputs(kept, budgetTokens);
  return { windowStart: kept[0]?.seq ?? windowStart, steps };
}

function dropOldTurns(steps: readonly Step[], targetTokens: number): readonly Step[] {
  let kept = steps;
  while (tokensOf(kept) > targetTokens) {
    const oldest = kept[0]?.turn;
    const end = kept.findIndex((step) => step.turn !== oldest);
    if (end === -1) break;
    kept = kept.slice(end);
  }
  return kept;
}

/** Goes through the turn as it grew, so that a longer turn is shortened where the shorter one was. */
function shortenOutputs(steps: readonly Step[], budgetTokens: number): readonly Step[] {
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
    if (tokens > budgetTokens) throw tooLarge(budgetTokens);
  }
  return sent;
}

function shorten(step: Step): Step {
  if (step.body.kind !== "tools") return step;
  const body = { kind: "tools", results: step.body.results.map(shortenResult) } as const;
  return { ...step, body, tokens: Math.min(step.tokens, estimateStepTokens(body)) };
}

function shortenResult(result: ToolResult): ToolResult {
  const { callId, isError } = result;
  const { head, tail, omitted } = cutMiddle(describeParts(partsOf(result)), shortenedChars);
  if (omitted === 0 && result.parts === undefined) return result;
  const note = `[${omitted} characters of this older output were left out to save space]`;
  return { callId, output: omitted === 0 ? head : `${head}\n${note}\n${tail}`, isError };
}

function tooLarge(budgetTokens: number): AppError {
  return new AppError(
    "context_too_large",
    `This turn has grown larger than the ${Math.floor(budgetTokens)} tokens that the model has room for. Ask for less at once, or begin a new conversation with /new.`,
  );
}

function tokensOf(steps: readonly Step[]): number {
  return steps.reduce((sum, step) => sum + step.tokens, 0);
}
