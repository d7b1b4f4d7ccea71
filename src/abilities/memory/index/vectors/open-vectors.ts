import { toError } from "../../../../lib/app-error.ts";
import type { SlowVectors } from "../../../../processes/memory-schemas.ts";
import { vectorStrategies } from "./catalog.ts";
import type { VectorStrategy, Vectors } from "./vectors.ts";

/** The best way to compare vectors that works on this machine; one that has failed is not tried again. */
export class VectorChoice {
  readonly #strategies: readonly VectorStrategy[];
  readonly #onSlow: (slow: SlowVectors) => void;
  #at = 0;

  /** Opens a strategy; `onSlow` is called for each that does not work. */
  constructor(onSlow: (slow: SlowVectors) => void = () => undefined, strategies = vectorStrategies) {
    this.#onSlow = onSlow;
    this.#strategies = strategies;
  }

  /** Throws what the last one throws. */
  open(dimensions: number): Vectors {
    for (;;) {
      try {
        const vectors = this.#strategies[this.#at]?.open(dimensions);
        if (vectors === undefined) throw new Error("there is no way to compare vectors");
        return vectors;
      } catch (error) {
        this.failed(error);
      }
    }
  }

  /**
   * The one that was opened last does not work, or has no room for so much: another one is taken from now on. Throws
   * the error where there is none.
   */
  failed(error: unknown): void {
    const next = this.#strategies[this.#at + 1];
    if (next === undefined) throw error;
    this.#at += 1;
    this.#onSlow({ strategy: next.name, reason: toError(error).message });
  }
}

/** Tries the best way with two vectors. Undefined where it works. */
export function slowVectors(strategies = vectorStrategies): SlowVectors | undefined {
  let slow: SlowVectors | undefined;
  new VectorChoice((told) => (slow = told), strategies).open(2).set(0, Float32Array.of(1, 0));
  return slow;
}
