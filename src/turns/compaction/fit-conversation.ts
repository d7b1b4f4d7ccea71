import { planCut, tokensOf } from "../context/compaction/cut.ts";
import { shortenedToFit, shortenOutputs } from "../context/window.ts";
import type { Session } from "../../domain/turns/session.ts";
import type { Logger } from "pino";
import type { AskedPrompt, Clearing } from "../conversation/clearing.ts";
import { type CompactingScope, type Compactor, limitsFor, limitsOf } from "./compactor.ts";
import {
  type ShownConversation,
  type ShownConversations,
  shownTokens,
  tokensBesideSteps,
} from "./shown-conversation.ts";

/** A turn asks for a summary again when its prompt has grown by so much of the room. */
const growthShare = 0.1;

export interface FitOptions {
  readonly shown: Pick<ShownConversations, "of">;
  readonly compactor: Pick<Compactor, "compact" | "evict">;
  readonly clearing: Pick<Clearing, "clear">;
  readonly logger: Pick<Logger, "info">;
}

/** What fits, and how it was asked for. */
export type FittedConversation = ShownConversation & AskedPrompt;

/**
 * What a turn's model is shown: everything, as long as it fits, but for long old results where they cost more than they
 * are worth. When it does not fit, a model sums up the older part; where none can, the oldest turns are shown no more;
 * and a turn that alone is too large has its oldest tool outputs shortened.
 */
export function createFit(
  options: FitOptions,
): (scope: CompactingScope, signal: AbortSignal) => Promise<FittedConversation> {
  /** How large the prompt was when a summary was last asked for, by the session as the turn knows it. */
  const tried = new WeakMap<Session, number>();
  return async (scope, signal) => {
    const { shown, ...asked } = await cleared(options, scope);
    const { roomTokens } = limitsOf(scope);
    const tokens = shownTokens(shown);
    if (tokens <= roomTokens) return { ...shown, ...asked };
    const hasGrown = tokens > (tried.get(scope.session) ?? -Infinity) + roomTokens * growthShare;
    const compacted = hasGrown ? await sumUp(options, scope, { shown, signal }) : shown;
    tried.set(scope.session, shownTokens(compacted));
    const evicted = await makeRoom(options, scope, compacted);
    return { ...shortened(evicted, scope.models.promptTokens(scope.group.model)), ...asked };
  };
}

/** Of the session's own steps only: what a parent has said is read again by nobody. */
async function cleared(
  { shown: conversations, clearing }: FitOptions,
  scope: CompactingScope,
): Promise<Pick<AskedPrompt, "askedAt" | "isMore"> & { readonly shown: ShownConversation }> {
  const shown = await conversations.of(scope);
  const budgetTokens = limitsOf(scope).roomTokens - tokensBesideSteps(shown);
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
    logger.info({ session: scope.session.id, reason: outcome.reason }, "a conversation could not be summed up");
  return "shown" in outcome ? outcome.shown : shown;
}

/**
 * As long as the models have room for the prompt as it is, nothing goes for want of a summary; nor where the turn alone
 * has too much, and shorter outputs of it make room.
 */
async function makeRoom(
  { compactor }: FitOptions,
  scope: CompactingScope,
  shown: ShownConversation,
): Promise<ShownConversation> {
  const { group, models, turn } = scope;
  const promptTokens = models.promptTokens(group.model);
  if (shownTokens(shown) <= promptTokens) return shown;
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
