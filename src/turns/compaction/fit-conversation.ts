import { planCut, tokensOf } from "../context/compaction/cut.ts";
import { shortenedToFit, shortenOutputs } from "../context/window.ts";
import type { Session } from "../../domain/turns/session.ts";
import type { Logger } from "pino";
import type { AskedPrompt, ResultClearing } from "../conversation/clearing.ts";
import { type CompactingScope, type Compactor, limitsFor, contextLimitsOf } from "./compactor.ts";
import {
  type ShownConversation,
  type ShownConversations,
  tokensOfConversation,
  tokensBesideSteps,
} from "./shown-conversation.ts";

/** A turn asks for a summary again when its prompt has grown by so much of the room. */
const growthShare = 0.1;

export interface FitOptions {
  readonly shown: Pick<ShownConversations, "of">;
  readonly compactor: Pick<Compactor, "compact" | "evict">;
  readonly clearing: Pick<ResultClearing, "clear">;
  readonly logger: Pick<Logger, "info">;
}

/** The fitted conversation, and the prompt's parameters. */
export type FittedConversation = ShownConversation & AskedPrompt;

/**
 * Fits a conversation into the model's window: all of it if possible, without long old results that cost more than they
 * are worth. Otherwise a model summarizes the older part; without one, the oldest turns are evicted; and a single turn
 * that is too large has its oldest tool outputs shortened.
 */
export function createFit(
  options: FitOptions,
): (scope: CompactingScope, signal: AbortSignal) => Promise<FittedConversation> {
  /** Prompt size at the last attempt to summarize, by session. */
  const tried = new WeakMap<Session, number>();
  return async (scope, signal) => {
    const { shown, ...asked } = await cleared(options, scope);
    const { roomTokens } = contextLimitsOf(scope);
    const tokens = tokensOfConversation(shown);
    if (tokens <= roomTokens) return { ...shown, ...asked };
    const hasGrown = tokens > (tried.get(scope.session) ?? -Infinity) + roomTokens * growthShare;
    const compacted = hasGrown ? await sumUp(options, scope, { shown, signal }) : shown;
    tried.set(scope.session, tokensOfConversation(compacted));
    const evicted = await makeRoom(options, scope, compacted);
    return { ...shortened(evicted, scope.models.promptTokens(scope.group.model)), ...asked };
  };
}

/** Clears old results of the session's own steps; a parent's steps are left alone. */
async function cleared(
  { shown: conversations, clearing }: FitOptions,
  scope: CompactingScope,
): Promise<Pick<AskedPrompt, "askedAt" | "isMore"> & { readonly shown: ShownConversation }> {
  const shown = await conversations.of(scope);
  const budgetTokens = contextLimitsOf(scope).roomTokens - tokensBesideSteps(shown);
  const own = shown.steps.slice(shown.forked);
  const { steps, isMore, askedAt } = await clearing.clear(scope, { steps: own, budgetTokens });
  return {
    shown: isMore ? { ...shown, steps: [...shown.steps.slice(0, shown.forked), ...steps] } : shown,
    isMore,
    askedAt,
  };
}

async function sumUp(
  { compactor, logger }: FitOptions,
  scope: CompactingScope,
  { shown, signal }: { readonly shown: ShownConversation; readonly signal: AbortSignal },
): Promise<ShownConversation> {
  if (planCut(shown.steps, limitsFor(scope, shown)) === 0) return shown;
  const outcome = await compactor.compact(scope, shown, { why: "full", signal });
  if (outcome.kind === "failed")
    logger.info({ session: scope.session.id, reason: outcome.reason }, "a conversation could not be summarized");
  return "shown" in outcome ? outcome.shown : shown;
}

/**
 * Makes room. Nothing is dropped for want of a summary while the prompt still fits, or when shortening the turn's own
 * outputs is enough.
 */
async function makeRoom(
  { compactor }: FitOptions,
  scope: CompactingScope,
  shown: ShownConversation,
): Promise<ShownConversation> {
  const { group, models, turn } = scope;
  const promptTokens = models.promptTokens(group.model);
  if (tokensOfConversation(shown) <= promptTokens) return shown;
  const ofTurn = tokensOf(shown.steps.filter((step) => step.turn === turn.id));
  if (tokensBesideSteps(shown) + ofTurn > promptTokens && fitsShortened(shown, promptTokens)) return shown;
  const outcome = await compactor.evict(scope, shown, { why: "full" });
  return "shown" in outcome ? outcome.shown : shown;
}

function fitsShortened(shown: ShownConversation, promptTokens: number): boolean {
  return shortenedToFit(shown.steps, promptTokens - tokensBesideSteps(shown)) !== undefined;
}

function shortened(shown: ShownConversation, promptTokens: number): ShownConversation {
  const budget = promptTokens - tokensBesideSteps(shown);
  return { ...shown, steps: shortenOutputs(shown.steps, budget) };
}
