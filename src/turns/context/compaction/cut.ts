import type { Step } from "../../../domain/turns/turn.ts";
import { type ContextLimits, leastKeptSteps } from "./limits.ts";

/** What is compacted has to be so much of the window at least: a summary of less would save nothing. */
const leastShare = 0.02;

/**
 * How many of these steps a summary takes the place of, from the oldest on; 0: none are worth it. At least the last
 * four stay, and as many as have the tokens that are to stay; no call is parted from its result. Where somebody speaks
 * is a better place than another one near it.
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

/**
 * What the last four steps have is more than is to stay, such as one large result: as little as can be stays in front
 * of them.
 */
function beforeLargeEnd(steps: readonly Step[], places: readonly number[], keptTokens: number): number | undefined {
  const last = places.at(-1);
  const spoken = places.findLast((place) => steps[place]?.body.kind === "user");
  return spoken !== undefined && tokensOf(steps.slice(spoken, last)) <= keptTokens ? spoken : last;
}

/**
 * How many of these steps have to go so that the others have at most so many tokens: whole turns, and never the newest
 * one.
 */
export function planEviction(steps: readonly Step[], targetTokens: number): number {
  const after = tokensFrom(steps);
  const beginnings = steps.flatMap((step, index) => (index > 0 && step.turn !== steps[index - 1]?.turn ? [index] : []));
  if ((after[0] ?? 0) <= targetTokens) return 0;
  return beginnings.find((place) => (after[place] ?? 0) <= targetTokens) ?? beginnings.at(-1) ?? 0;
}

/** What these steps add to a prompt. */
export function tokensOf(steps: readonly Pick<Step, "tokens">[]): number {
  return steps.reduce((sum, step) => sum + step.tokens, 0);
}

/** Places between steps, in order: results that come before the next answer stay behind their calls. */
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

/** By place, what is behind it. */
function tokensFrom(steps: readonly Step[]): readonly number[] {
  const after = Array.from({ length: steps.length + 1 }, () => 0);
  for (let place = steps.length - 1; place >= 0; place -= 1)
    after[place] = (after[place + 1] ?? 0) + (steps[place]?.tokens ?? 0);
  return after;
}
