import type { Step } from "../../../domain/turns/turn.ts";
import { type ContextLimits, leastKeptSteps } from "./limits.ts";

/** Minimum share of the window worth compacting: a summary of less would save nothing. */
const leastShare = 0.02;

/**
 * Number of steps to summarize, oldest first; 0: not worthwhile. Keeps at least the last four steps and the tokens to
 * keep, never separates a call from its result, and prefers to cut where somebody speaks.
 */
export function planCut(
  steps: readonly Step[],
  { keptTokens, windowTokens }: Pick<ContextLimits, "keptTokens" | "windowTokens">,
): number {
  const places = cutPlaces(steps).filter((place) => place <= steps.length - leastKeptSteps);
  const after = tokensFrom(steps);
  const enough = places.filter((place) => (after[place] ?? 0) >= keptTokens && (after[place] ?? 0) <= 2 * keptTokens);
  // Where no place leaves that, such as beside one large step, no more than is to stay does.
  const little = places.filter((place) => (after[place] ?? 0) < keptTokens);
  const spoken = enough.findLast((place) => steps[place]?.body.kind === "user");
  const cut = spoken ?? enough.at(-1) ?? little[0] ?? beforeLargeEnd(steps, places, keptTokens) ?? 0;
  const replaced = (after[0] ?? 0) - (after[cut] ?? 0);
  return replaced < windowTokens * leastShare ? 0 : cut;
}

/** Cut for large last four steps: keeps as little as possible in front of them. */
function beforeLargeEnd(steps: readonly Step[], places: readonly number[], keptTokens: number): number | undefined {
  const last = places.at(-1);
  const spoken = places.findLast((place) => steps[place]?.body.kind === "user");
  return spoken !== undefined && tokensOf(steps.slice(spoken, last)) <= keptTokens ? spoken : last;
}

/** Number of steps to evict to reach a target: whole turns, never the newest. */
export function planEviction(steps: readonly Step[], targetTokens: number): number {
  const after = tokensFrom(steps);
  const beginnings = steps.flatMap((step, index) => (index > 0 && step.turn !== steps[index - 1]?.turn ? [index] : []));
  if ((after[0] ?? 0) <= targetTokens) return 0;
  return beginnings.find((place) => (after[place] ?? 0) <= targetTokens) ?? beginnings.at(-1) ?? 0;
}

/** Tokens that these steps add to a prompt. */
export function tokensOf(steps: readonly Pick<Step, "tokens">[]): number {
  return steps.reduce((sum, step) => sum + step.tokens, 0);
}

/** WorkSlots between steps, in order: results that come before the next answer stay behind their calls. */
function cutPlaces(steps: readonly Step[]): number[] {
  const places: number[] = [];
  let hasResults = false;
  for (let place = steps.length - 1; place > 0; place -= 1) {
    const kind = steps[place]?.body.kind;
    if (kind === "model") hasResults = false;
    else if (kind === "tools") hasResults = true;
    if (!hasResults) places.push(place);
  }
  return places.toReversed();
}

/** Tokens from each step to the end, by its position. */
function tokensFrom(steps: readonly Step[]): readonly number[] {
  const after = Array.from({ length: steps.length + 1 }, () => 0);
  for (let place = steps.length - 1; place >= 0; place -= 1)
    after[place] = (after[place + 1] ?? 0) + (steps[place]?.tokens ?? 0);
  return after;
}
