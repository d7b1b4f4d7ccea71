import type { Lease } from "../../domain/turns/lease.ts";
import type { Step } from "../../domain/turns/turn.ts";
import type { TurnCollaborators } from "../collaborators.ts";
import type { TurnScope } from "../turn-scope.ts";
import type { SourcedStep } from "./sourced-step.ts";
import { TurnProgress } from "../turn-progress.ts";

type StepParts = Pick<TurnCollaborators, "clock"> & {
  readonly store: { readonly turns: Pick<TurnCollaborators["store"]["turns"], "lastStep" | "addStep" | "steps"> };
};

/** Steps of a running turn, which nobody else adds to: the newest is read only once. */
export class TurnSteps {
  readonly #parts: StepParts;
  readonly #turn: string;
  readonly #lease: Lease;
  #last: Step | undefined;
  #progress: TurnProgress | undefined;

  /** `last`: of a turn that has just begun, its only step. */
  constructor(parts: StepParts, { turn, lease }: Pick<TurnScope, "turn" | "lease">, last: Step | undefined) {
    this.#parts = parts;
    this.#turn = turn.id;
    this.#lease = lease;
    this.#last = last;
    if (last) this.#progress = progressOver([last]);
  }

  async last(): Promise<Step | undefined> {
    this.#last ??= await this.#parts.store.turns.lastStep(this.#turn);
    return this.#last;
  }

  async add(step: SourcedStep): Promise<void> {
    this.#last = await this.#parts.store.turns.addStep(this.#turn, step, this.#lease);
    this.#progress?.add(step.body);
  }

  /** Progress of the turn, including earlier containers and lives of the host. */
  async progress(): Promise<TurnProgress> {
    if (this.#progress) return this.#progress;
    const progress = progressOver(await this.#parts.store.turns.steps(this.#turn));
    this.#progress = progress;
    return progress;
  }

  /** The time for a step of this moment. */
  now(): number {
    return this.#parts.clock.now();
  }
}

function progressOver(steps: readonly Step[]): TurnProgress {
  const progress = new TurnProgress();
  for (const { body } of steps) progress.add(body);
  return progress;
}
