import { createHash } from "node:crypto";

import type { Step } from "../../domain/turns/turn.ts";

/** Where a result stands: in a step, at this position among its results. */
export interface ResultPlace {
  readonly step: Pick<Step, "seq" | "turn">;
  readonly index: number;
}

/** How much of a turn's id begins the ids of its results. */
const turnChars = 8;
const ownChars = 8;

/**
 * What a result is called where its words were left out. It begins as its turn's id does, so that one is found among
 * the results of a turn; the rest is a digest, as the numbers of steps would tell a group how much happens in others.
 */
export function resultId({ step, index }: ResultPlace): string {
  const own = createHash("sha256").update(`${step.turn} ${step.seq} ${index}`).digest("hex");
  return `${step.turn.slice(0, turnChars)}-${own.slice(0, ownChars)}`;
}

/** How the id of the turn begins in which the result with this id came. */
export function turnPrefixOf(id: string): string {
  return id.slice(0, turnChars);
}

/** Stands where words of a tool's result are left out. */
export function resultNote(place: ResultPlace, omittedChars: number): string {
  return `[${omittedChars} characters of this older output were left out to save space; read_result {"id": "${resultId(place)}"} shows all of it]`;
}
