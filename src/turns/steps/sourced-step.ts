import { toUserContent } from "../../domain/chats/part.ts";
import { type SourcedPiece, sourcesOf, unsourced } from "../../domain/rights/sourced.ts";
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

/** A step in which people, programs or the host speak to the model. */
export function userStep(said: readonly SourcedPiece[], about: About): SourcedStep {
  const content = toUserContent(said.map(unsourced));
  return stepOf({ kind: "user", ...content }, { ...sourcesOf(said), writesFolder: false }, about);
}

/** A step with this body, which brings that into its turn. For the makers of steps. */
export function stepOf(body: NewStep["body"], exposure: NewStep["exposure"], about: About): SourcedStep {
  return { ...about, body, exposure, tokens: estimateStepTokens(body) } as SourcedStep;
}
