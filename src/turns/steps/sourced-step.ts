import { toUserContent } from "../../domain/chats/part.ts";
import { type SourcedPart, sourcesOf, toPart } from "../../domain/rights/sourced.ts";
import type { NewStep, TurnStore } from "../../stores/contract/store.ts";
import { estimateStepTokens } from "../context/tokens.ts";

declare const hasSources: unique symbol;

/** A step whose words have all said where they come from. Turns write no other; the functions here make them. */
export type SourcedStep = NewStep & { readonly [hasSources]: true };

/** The store of turns as turns write to it. */
export type SourcedTurns = Omit<TurnStore, "begin" | "addStep"> & {
  begin(
    turn: Parameters<TurnStore["begin"]>[0],
    first: SourcedStep,
    ...lease: LeaseOf<"begin">
  ): ReturnType<TurnStore["begin"]>;
  addStep(turn: string, step: SourcedStep, ...lease: LeaseOf<"addStep">): ReturnType<TurnStore["addStep"]>;
};

type LeaseOf<Method extends "begin" | "addStep"> =
  Parameters<TurnStore[Method]> extends [unknown, unknown, ...infer Lease] ? Lease : never;

type About = Omit<NewStep, "body" | "tokens" | "exposure">;

/** What people, programs and the host say to the model. */
export function userStep(said: readonly SourcedPart[], about: About): SourcedStep {
  const content = toUserContent(said.map(toPart));
  return stepOf({ kind: "user", ...content }, { ...sourcesOf(said), writesFolder: false }, about);
}

/** A step with this body, which brings that into its turn. For the makers of steps. */
export function stepOf(body: NewStep["body"], exposure: NewStep["exposure"], about: About): SourcedStep {
  return { ...about, body, exposure, tokens: estimateStepTokens(body) } as SourcedStep;
}
