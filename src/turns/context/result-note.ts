import { createHash } from "node:crypto";

import type { Step } from "../../domain/turns/turn.ts";

/** Position of a result in a step. */
export interface ResultPosition {
  readonly step: Pick<Step, "seq" | "turn">;
  readonly index: number;
}

/** Characters of a turn's id used in ids of its results. */
const turnChars = 8;
const ownChars = 8;

/**
 * Id of a cleared result. Begins like its turn's id, so that it can be found; the rest is a digest, as step numbers
 * would reveal other groups' activity.
 */
export function resultId({ step, index }: ResultPosition): string {
  const own = createHash("sha256").update(`${step.turn} ${step.seq} ${index}`).digest("hex");
  return `${step.turn.slice(0, turnChars)}-${own.slice(0, ownChars)}`;
}

/** Beginning of the turn's id for a result id. */
export function turnPrefixOf(id: string): string {
  return id.slice(0, turnChars);
}

/** Stands where words of a tool's result are left out. */
export function resultNote(place: ResultPosition, omittedChars: number): string {
  return `[${omittedChars} characters of this older output were left out to save space; read_result {"id": "${resultId(place)}"} shows all of it]`;
}
