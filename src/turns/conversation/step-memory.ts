import type { Step } from "../../domain/turns/turn.ts";
import type { TurnStore } from "../../stores/contract/store.ts";

interface Known {
  readonly conversation: number;
  readonly rewrites: number;
  /** All steps of the conversation from `from` on, up to the last one that is here. */
  readonly from: number;
  readonly steps: readonly Step[];
  readonly tokens: number;
}

/** About 12 MB: what a dozen long conversations take. */
const mostTokens = 3_000_000;
/** Maximum sessions in memory, as each run of a task or sub-agent has one. */
const mostSessions = 512;

/**
 * The steps that the model is shown, without reading all of them again for each answer: a step never changes, and a
 * conversation only grows. Those of the sessions used last are kept.
 */
export class StepMemory {
  readonly #turns: Pick<TurnStore, "history">;
  readonly #rewrites: () => number;
  /** The session used last is the last one. */
  readonly #sessions = new Map<string, Known>();

  /** `rewrites` goes up when steps were changed after all, because words had to go. */
  constructor(turns: Pick<TurnStore, "history">, rewrites: () => number = () => 0) {
    this.#turns = turns;
    this.#rewrites = rewrites;
  }

  /** Like `TurnStore.history`. */
  async history(session: string, conversation: number, from: number): Promise<readonly Step[]> {
    const known = this.#sessions.get(session);
    const rewrites = this.#rewrites();
    const isUsable = known?.conversation === conversation && known.from <= from && known.rewrites === rewrites;
    const old = isUsable ? known.steps.slice(firstFrom(known.steps, from)) : [];
    const last = old.at(-1)?.seq;
    const fresh = await this.#turns.history(session, conversation, last === undefined ? from : last + 1);
    const steps = fresh.length === 0 ? old : [...old, ...fresh];
    this.#sessions.delete(session);
    const tokens = steps.reduce((sum, step) => sum + step.tokens, 0);
    this.#sessions.set(session, { conversation, rewrites, from, steps, tokens });
    this.#forget();
    return steps;
  }

  #forget(): void {
    let total = 0;
    for (const [index, [session, { tokens }]] of [...this.#sessions].toReversed().entries()) {
      total += tokens;
      if (total > mostTokens || index >= mostSessions) this.#sessions.delete(session);
    }
  }
}

function firstFrom(steps: readonly Step[], from: number): number {
  const index = steps.findIndex(({ seq }) => seq >= from);
  return index === -1 ? steps.length : index;
}
