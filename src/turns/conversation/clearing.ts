import { clearResults, withCleared } from "../context/clear-results.ts";
import type { ModelAnswer } from "../../domain/turns/model.ts";
import type { Session } from "../../domain/turns/session.ts";
import type { Step } from "../../domain/turns/turn.ts";
import type { SessionStore } from "../../stores/contract/session-store.ts";
import type { ConversationScope, TurnScope } from "../turn-scope.ts";
import type { CacheWatch } from "./cache-watch.ts";

export interface ClearingOptions {
  readonly sessions: Pick<SessionStore, "setClearedBefore">;
  readonly cacheWatch: Pick<CacheWatch, "note">;
  readonly now: () => number;
}

/** Steps as the model is to be shown them. */
export interface Cleared {
  readonly steps: readonly Step[];
  /** More than before was cleared. */
  readonly isMore: boolean;
  readonly askedAt: number;
}

/** Parameters of the last prompt. */
export interface AskedPrompt extends Pick<Cleared, "askedAt" | "isMore"> {
  /** The step that the prompt began with. */
  readonly windowStart: number;
}

/**
 * Keeps prompts as cheap as vendors' caches allow: clears long results of old turns when no cache is lost by it, and
 * notices when caches fail.
 */
export class ResultClearing {
  readonly #options: ClearingOptions;
  /** Progress of clearing, by sessions as they were at their turn's beginning. */
  readonly #known = new WeakMap<Session, number>();

  constructor(options: ClearingOptions) {
    this.#options = options;
  }

  /** The session's own steps with what is cleared by now. */
  shown(session: Session, steps: readonly Step[]): readonly Step[] {
    return withCleared(steps, this.#known.get(session) ?? session.clearedBefore);
  }

  /**
   * To be called before each call of a model, with the session's own steps: what is cleared is noted before the model
   * is asked.
   */
  async clear(
    { session, group, models }: Pick<ConversationScope, "session" | "group" | "models">,
    { steps, budgetTokens }: { readonly steps: readonly Step[]; readonly budgetTokens: number },
  ): Promise<Cleared> {
    const askedAt = this.#options.now();
    const clearedBefore = this.#known.get(session) ?? session.clearedBefore;
    const isCold = isColdSince(steps, askedAt - models.cacheOf(group.model).ms);
    const cleared = clearResults({ steps, clearedBefore, isCold, budgetTokens });
    const isMore = cleared.clearedBefore > clearedBefore;
    if (isMore) await this.#options.sessions.setClearedBefore(session.id, cleared.clearedBefore);
    this.#known.set(session, cleared.clearedBefore);
    return { steps: cleared.steps, isMore, askedAt };
  }

  /** To be called after it. */
  async answered(
    scope: Pick<TurnScope, "session" | "turn" | "group" | "models">,
    { askedAt, isMore, windowStart }: AskedPrompt,
    answer: ModelAnswer,
  ): Promise<void> {
    const { ms, isPriced } = scope.models.cacheOf(scope.group.model);
    const call = { askedAt, answeredAt: this.#options.now(), answer, cacheMs: ms, isRewritten: isMore, windowStart };
    await this.#options.cacheWatch.note(scope, call, isPriced(answer.model));
  }
}

/** True when nothing was answered since then, so that nothing is cached. */
function isColdSince(steps: readonly Step[], since: number): boolean {
  const last = steps.findLast(({ body }) => body.kind === "model");
  return last === undefined || last.at < since;
}
