import { LRUCache } from "lru-cache";

import { planCut, planEviction, tokensOf } from "../context/compaction/cut.ts";
import { identifiersToKeep } from "../context/compaction/identifiers.ts";
import { contextLimits, type ContextLimits } from "../context/compaction/limits.ts";
import { summaryTokens } from "../context/compaction/show-cover.ts";
import { summaryRequest, whyUnfit } from "../context/compaction/summary-request.ts";
import { limitImages } from "../context/image-limit.ts";
import { toModelMessages } from "../context/model-messages.ts";
import { estimateStepTokens } from "../context/tokens.ts";
import { shortenOutputs } from "../context/window.ts";
import type { Lease } from "../../domain/turns/lease.ts";
import type { ModelAnswer, ModelMessage } from "../../domain/turns/model.ts";
import type { NewSummary } from "../../domain/turns/summary.ts";
import type { Step } from "../../domain/turns/turn.ts";
import type { Publish } from "../../domain/events/event.ts";
import { AppError, isPassing } from "../../lib/app-error.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Store } from "../../stores/contract/store.ts";
import { askUntilItFits } from "../conversation/ask-until-it-fits.ts";
import type { ConversationScope } from "../turn-scope.ts";
import {
  type ShownConversation,
  type ShownConversations,
  tokensOfConversation,
  tokensBesideSteps,
} from "./shown-conversation.ts";

/** Answers that are no summary, until the oldest part is shown no more without one. */
const attempts = 2;
const retryMs = 60_000;
const rememberedFailures = 512;
/**
 * Share of the room left free when old turns are evicted without a summary, so that many answers fit before the next
 * eviction.
 */
const evictedShare = 0.5;

/** Causes of compaction: idle time, a request, or a turn without room. */
export type CompactionCause = "idle" | "asked" | "full";

/** A conversation that nobody else works on. */
export type CompactingScope = ConversationScope & { readonly lease: Lease };

/** Result. `stale`: another conversation has begun. `failed`: no model was available; nothing changed. */
export type CompactionOutcome =
  | { readonly kind: "compacted" | "evicted"; readonly before: number; readonly shown: ShownConversation }
  | { readonly kind: "nothing" | "stale" }
  | { readonly kind: "failed"; readonly reason: string };

export interface CompactorOptions {
  readonly store: { readonly summaries: Pick<Store["summaries"], "add"> };
  readonly shown: Pick<ShownConversations, "moved">;
  readonly publish: Publish<"context.compacting" | "context.refused" | "context.compacted" | "context.evicted">;
  readonly clock: Clock;
}

interface How {
  readonly why: CompactionCause;
  readonly signal: AbortSignal;
}

/** Steps that a summary replaces. */
interface Plan {
  readonly replaced: readonly Step[];
  readonly kept: readonly Step[];
  readonly replacedTokens: number;
  readonly limits: ContextLimits;
}

/** A summary that can be used, and how it was come by. */
interface Written {
  readonly text: string;
  readonly model: string;
  readonly attempts: number;
}

/**
 * Has a model write what stands for the older part of a conversation, and puts it there. The steps stay in the store as
 * they are.
 */
export class Compactor {
  readonly #options: CompactorOptions;
  /** When a model could not be asked last, by session: it is not asked again at each turn. */
  readonly #failedAt = new LRUCache<string, number>({ max: rememberedFailures });

  constructor(options: CompactorOptions) {
    this.#options = options;
  }

  /** Rejects with the signal's reason when aborted, and with what is wrong with the store: nothing has changed then. */
  async compact(scope: CompactingScope, shown: ShownConversation, how: How): Promise<CompactionOutcome> {
    const plan = planOf(scope, shown);
    if (!plan) return { kind: "nothing" };
    const { publish, clock } = this.#options;
    const begunAt = clock.monotonic();
    const isTooSoon = begunAt < (this.#failedAt.get(scope.session.id) ?? -Infinity) + retryMs;
    if (isTooSoon && how.why !== "asked") return { kind: "failed", reason: "No model could be asked just now." };
    const entries = plan.replaced.length;
    const about = aboutOf(scope, how);
    await publish({
      type: "context.compacting",
      ...about,
      data: { why: how.why, entries, tokens: plan.replacedTokens },
    });
    let written: Written | undefined;
    try {
      written = await this.#write(scope, shown, { ...how, plan });
    } catch (error) {
      how.signal.throwIfAborted();
      if (!(error instanceof AppError) || isPassing(error)) throw error;
      this.#failedAt.set(scope.session.id, clock.monotonic());
      return { kind: "failed", reason: error.message };
    }
    if (!written) return this.evict(scope, shown, how);
    const { text, model } = written;
    const summary = newSummary(scope, this.#now(), { kind: "summary", text, model, ...rangeOf(shown, plan.replaced) });
    const tokens = { before: plan.replacedTokens, after: summary.tokens };
    const elapsedMs = Math.round(clock.monotonic() - begunAt);
    const data = { why: how.why, entries, tokens, model, attempts: written.attempts, elapsedMs };
    how.signal.throwIfAborted();
    await publish({ type: "context.compacted", ...about, data });
    return this.#put(scope, shown, summary);
  }

  /**
   * Shows the oldest turns no more, with a note that says so. `nothing`: there are none besides what is always shown.
   */
  async evict(scope: CompactingScope, shown: ShownConversation, { why }: Pick<How, "why">): Promise<CompactionOutcome> {
    const { steps } = shown;
    const limits = limitsFor(scope, shown);
    const wanted = planEviction(steps, Math.max(0, limits.roomTokens - tokensBesideSteps(shown)) * evictedShare);
    // What a summary would have left raw stays, where nothing is full.
    const count = why === "full" ? wanted : Math.min(wanted, planCut(steps, limits));
    const gone = steps.slice(0, count);
    const last = gone.at(-1);
    if (!last) return { kind: "nothing" };
    const before = shown.cover.at(-1);
    const fromStep = before?.kind === "eviction" ? before.fromStep : (gone[0] ?? last).seq;
    const range = { fromStep, toStep: last.seq };
    const data = { why, entries: gone.length, tokens: tokensOf(gone) };
    await this.#options.publish({ type: "context.evicted", ...aboutOf(scope, { why }), data });
    const eviction = newSummary(scope, this.#now(), { kind: "eviction", text: "", model: undefined, ...range });
    const outcome = await this.#put(scope, shown, eviction);
    return outcome.kind === "compacted" ? { ...outcome, kind: "evicted" } : outcome;
  }

  async #put(scope: CompactingScope, shown: ShownConversation, summary: NewSummary): Promise<CompactionOutcome> {
    const { windowStart } = shown;
    const added = await this.#options.store.summaries.add(summary, { windowStart }, scope.lease);
    if (!added) return { kind: "stale" };
    const now = await this.#options.shown.moved(scope, summary.toStep + 1);
    return { kind: "compacted", before: tokensOfConversation(shown), shown: now };
  }

  /** Writes a summary; undefined when no answer is usable. Rejects like model calls. */
  async #write(
    scope: CompactingScope,
    shown: ShownConversation,
    how: How & { readonly plan: Plan },
  ): Promise<Written | undefined> {
    const { plan, why } = how;
    const wanted = { replacedTokens: plan.replacedTokens, identifiers: identifiersToKeep(plan.replaced) };
    let refusal: string | undefined;
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const answer = await askUntilItFits(
        () => summaryRoom(scope, plan.limits),
        () => this.#ask(scope, shown, { ...how, refusal }),
      );
      const unfit = whyUnfit(answer, wanted);
      if (!unfit) return { text: answer.text.trim(), model: answer.model, attempts: attempt };
      refusal = unfit.words;
      const data = { why, reason: unfit.reason, attempt };
      await this.#options.publish({ type: "context.refused", ...aboutOf(scope, how), data });
    }
    return undefined;
  }

  /** The same prompt as the turn's before, and one message more: what a vendor knows of it costs little. */
  async #ask(
    scope: CompactingScope,
    shown: ShownConversation,
    { plan, why, signal, refusal }: How & { readonly plan: Plan; readonly refusal: string | undefined },
  ): Promise<ModelAnswer> {
    const { group, session, turn, models } = scope;
    const { limits, replaced, replacedTokens } = plan;
    const { answerTokens } = limits;
    const mostTokens = summaryRoom(scope, limits);
    const requestOf = (kept: number): ModelMessage & { role: "user" } => ({
      role: "user",
      text: summaryRequest({ kept, replacedTokens, refusal }),
    });
    const before = shown.first ? [shown.first] : [];
    const tokensWith = (steps: readonly Step[], request: ModelMessage & { role: "user" }): number =>
      tokensBesideSteps(shown) + tokensOf(steps) + estimateStepTokens({ ...request, kind: "user" });
    const whole = requestOf(plan.kept.length);
    const isWhole = tokensWith(shown.steps, whole) <= mostTokens;
    const request = isWhole ? whole : requestOf(0);
    const steps = isWhole ? shown.steps : shortenOutputs(replaced, mostTokens - tokensWith([], request));
    return models.complete({
      group: group.name,
      turn: why === "full" ? turn.id : undefined,
      route: group.model,
      groupBudget: group.budget,
      system: shown.system,
      messages: [...toModelMessages([...before, ...limitImages(steps)]), request],
      tools: shown.tools,
      conversation: `${session.id}:${turn.conversation}`,
      inputTokens: tokensWith(steps, request),
      mostTokens: answerTokens,
      signal,
    });
  }

  #now(): number {
    return this.#options.clock.now();
  }
}

/** Estimated maximum tokens of a summary request, leaving room for the summary. */
function summaryRoom({ group, models }: ConversationScope, { answerTokens }: ContextLimits): number {
  return models.promptTokens(group.model, answerTokens);
}

/** Limits of this conversation. */
export function contextLimitsOf({ group: { model: route }, models }: ConversationScope): ContextLimits {
  return contextLimits({ windowTokens: models.windowTokens(route), promptTokens: models.promptTokens(route) });
}

/** Limits that keep less of the conversation raw when system prompt and tools are large. */
export function limitsFor(scope: ConversationScope, shown: ShownConversation): ContextLimits {
  const limits = contextLimitsOf(scope);
  const roomLeft = Math.max(0, limits.roomTokens - shown.fixedTokens);
  return { ...limits, keptTokens: Math.min(limits.keptTokens, Math.floor(roomLeft / 2)) };
}

function planOf(scope: ConversationScope, shown: ShownConversation): Plan | undefined {
  const { steps, cover } = shown;
  const limits = limitsFor(scope, shown);
  const cut = planCut(steps, limits);
  if (cut === 0) return undefined;
  const replaced = steps.slice(0, cut);
  const coveredTokens = cover.reduce((sum, { tokens }) => sum + tokens, 0);
  return { replaced, kept: steps.slice(cut), replacedTokens: tokensOf(replaced) + coveredTokens, limits };
}

/** A new summary takes in what covered the steps before. */
function rangeOf({ cover }: ShownConversation, replaced: readonly Step[]): Pick<NewSummary, "fromStep" | "toStep"> {
  const toStep = replaced.at(-1)?.seq ?? 0;
  return { fromStep: cover[0]?.fromStep ?? replaced[0]?.seq ?? toStep, toStep };
}

function newSummary(
  { session, turn }: ConversationScope,
  madeAt: number,
  summary: Pick<NewSummary, "kind" | "text" | "model" | "fromStep" | "toStep">,
): NewSummary {
  const tokens = summaryTokens({ ...summary, fromEntry: summary.fromStep, toEntry: summary.toStep });
  return { ...summary, session: session.id, conversation: turn.conversation, tokens, madeAt };
}

function aboutOf({ group, session, turn }: ConversationScope, { why }: Pick<How, "why">) {
  const ofTurn = why === "full" ? { turn: turn.id } : {};
  return { group: group.name, session: session.id, ...ofTurn, actor: "host" } as const;
}
