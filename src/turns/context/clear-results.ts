import type { ToolResult } from "../../domain/turns/model.ts";
import { describeParts, partsOf } from "../../domain/chats/part.ts";
import type { Step } from "../../domain/turns/turn.ts";
import { tokensOf } from "./compaction/cut.ts";
import { resultNote } from "./result-note.ts";
import { estimateStepTokens } from "./tokens.ts";

/** Results that are longer, in characters, are cleared when they are old. */
const keptChars = 4_000;
/** Turns whose results stay as they are, the running one among them, as long as all of it fits. */
const newestTurns = 3;
/** Tokens that are worth losing a warm prompt cache. */
const worthwhileTokens = 20_000;

export interface Clearing {
  /** Long results of steps before this one are cleared; to be given again the next time. */
  readonly clearedBefore: number;
  readonly steps: readonly Step[];
}

/**
 * Takes long results out of old turns; a line is left that says how to read them again. What was cleared stays so. More
 * is cleared only when that does not spoil a prompt cache, or spoils it once for much: because it `isCold`, because all
 * of it does not fit anyway, or because very much goes at once.
 */
export function clearResults(input: {
  readonly steps: readonly Step[];
  readonly clearedBefore: number;
  /** True when no vendor has this conversation cached. */
  readonly isCold: boolean;
  readonly budgetTokens: number;
}): Clearing {
  const { steps, budgetTokens } = input;
  let { clearedBefore } = input;
  const end = newestFrom(steps, newestTurns);
  if (end > clearedBefore && isWorthIt(input, end)) clearedBefore = end;
  let shown = withCleared(steps, clearedBefore);
  // Words count for more than outputs that can be read again: before any of them go, results of newer turns do.
  for (let turns = newestTurns - 1; turns > 0 && tokensOf(shown) > budgetTokens; turns -= 1) {
    const newer = newestFrom(steps, turns);
    const less = withCleared(steps, newer);
    if (newer <= clearedBefore || tokensOf(less) >= tokensOf(shown)) continue;
    clearedBefore = newer;
    shown = less;
  }
  return { clearedBefore, steps: shown };
}

/** The same steps without the long results of those before this one. */
export function withCleared(steps: readonly Step[], clearedBefore: number): readonly Step[] {
  const last = steps.findLastIndex(({ seq }) => seq < clearedBefore);
  return last === -1 ? steps : [...steps.slice(0, last + 1).map(withoutResults), ...steps.slice(last + 1)];
}

/** The first step of the newest `most` turns; 0 when there are no others. */
function newestFrom(steps: readonly Step[], most: number): number {
  let turns = 1;
  for (let index = steps.length - 1; index > 0; index -= 1) {
    if (steps[index]?.turn === steps[index - 1]?.turn) continue;
    if (turns === most) return steps[index]?.seq ?? 0;
    turns += 1;
  }
  return 0;
}

function isWorthIt(
  { steps, clearedBefore, isCold, budgetTokens }: Parameters<typeof clearResults>[0],
  end: number,
): boolean {
  let [shown, saved] = [0, 0];
  for (const step of steps) {
    const { tokens } = step.seq < end ? withoutResults(step) : step;
    shown += step.seq < clearedBefore ? tokens : step.tokens;
    if (step.seq >= clearedBefore) saved += step.tokens - tokens;
  }
  return saved > 0 && (isCold || shown > budgetTokens || saved >= worthwhileTokens);
}

/** A step never changes, and each is looked at for every answer of its conversation. */
const cleared = new WeakMap<Step, Step>();

function withoutResults(step: Step): Step {
  if (step.body.kind !== "tools") return step;
  const known = cleared.get(step);
  if (known) return known;
  const less = clearStep(step, step.body.results);
  cleared.set(step, less);
  return less;
}

function clearStep(step: Step, results: readonly ToolResult[]): Step {
  const left = results.map((result, index) => clearResult(step, result, index));
  if (left.every((result, index) => result === results[index])) return step;
  const body = { kind: "tools", results: left } as const;
  return { ...step, body, tokens: Math.min(step.tokens, estimateStepTokens(body)) };
}

/** Images stay: there is their own limit for them. */
function clearResult(step: Step, result: ToolResult, index: number): ToolResult {
  const parts = partsOf(result);
  const words = describeParts(parts.filter(({ kind }) => kind !== "image"));
  if (words.length <= keptChars) return result;
  const { callId, isError } = result;
  const note = resultNote({ step, index }, words.length);
  const images = parts.filter(({ kind }) => kind === "image");
  return images.length === 0
    ? { callId, output: note, isError }
    : { callId, parts: [{ kind: "text", text: note }, ...images], isError };
}
