import type { Logger } from "pino";

import type { BudgetLimits } from "../domain/chats/group.ts";
import type { ModelAnswer, ModelMessage, ModelUsage, ToolDefinition } from "../domain/turns/model.ts";
import type { Publish } from "../domain/events/event.ts";
import { AppError, toError } from "../lib/app-error.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { Sleep } from "../lib/time/sleep.ts";
import { reserveBudget } from "./costs/budget.ts";
import type { Reservation, UsageLedger } from "./costs/budget.ts";
import {
  type Budgets,
  callLimits,
  type CallLimits,
  limitsMoney,
  totalLimits,
  warnOfBudgets,
} from "./costs/budget-limits.ts";
import type { CircuitBreakers } from "./routes/breaker.ts";
import { imagesIn, withThoughtsOf } from "./wire/call-messages.ts";
import type { RefusedPrompt, TokenCalibration } from "./costs/calibration.ts";
import { cacheOf, callsTools, costUsd, hasPrice } from "./knowledge/capabilities.ts";
import type { CacheTraits, CapabilityOverride } from "./knowledge/capabilities.ts";
import { withoutEchoes } from "./wire/echoes.ts";
import { ProviderError } from "./provider.ts";
import type { OnDelta, Provider, ProviderFailure, ProviderRequest } from "./provider.ts";
import { retryDelayMs } from "./routes/retry.ts";
import { learnWindow, pickModels, type RouteModel } from "./routes/route-models.ts";
import type { Routes } from "./routes/routes.ts";

export interface ModelCall {
  readonly group: string;
  /** The turn that the call is for; undefined: none. */
  readonly turn?: string | undefined;
  /** `undefined` = the default route. */
  readonly route: string | undefined;
  /** The group's own limits; those that it does not set are the configuration's `perGroup`. */
  readonly groupBudget: BudgetLimits;
  readonly system: readonly string[];
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolDefinition[];
  /** Selects the first model of a weighted route; the group by default. */
  readonly conversation?: string | undefined;
  /** Maximum tokens of the answer; the limits of model and route by default. */
  readonly mostTokens?: number | undefined;
  /** Known result of `estimateTokens`, which takes a while for a long prompt. */
  readonly inputTokens?: number | undefined;
  readonly signal: AbortSignal;
  /** Called for each try; receives that try's text as it streams in. */
  readonly onTry?: (() => OnDelta) | undefined;
}

export interface ModelCalls {
  /**
   * Asks the models of the route, in order, until one answers. Rejects with the signal's reason when aborted, otherwise
   * with AppError: `budget_exhausted`; `context_too_large` when no model of the route has room for the prompt;
   * `model_unavailable`, which lists what was tried.
   */
  complete(call: ModelCall): Promise<ModelAnswer>;
  /** Maximum estimated prompt tokens for which each model of the route has room for an answer of up to `mostTokens`. */
  promptTokens(route: string | undefined, mostTokens?: number): number;
  /** The smallest window of the models of the route, as far as it is known. */
  windowTokens(route: string | undefined): number;
  cacheOf(route: string | undefined): CacheTraits;
  /** True when some model of the route can call tools. */
  callsTools(route: string | undefined): boolean;
}

export interface ModelCallsOptions {
  readonly models: {
    readonly default: string;
    readonly routes: Routes;
    readonly providers: Readonly<Record<string, { readonly kind: string }>>;
    readonly capabilities: Readonly<Record<string, CapabilityOverride>>;
    readonly attempts: number;
  };
  readonly budgets: Budgets;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly calibration: TokenCalibration;
  /** Circuit breakers of the providers, by name. */
  readonly breakers: CircuitBreakers;
  readonly usage: UsageLedger;
  /** The bytes of an image by their SHA-256. Rejects when they cannot be had, or are damaged. */
  readonly readImage: (sha256: string) => Promise<Uint8Array>;
  /** Estimates a prompt on the high side. */
  readonly estimateTokens: (prompt: Pick<ModelCall, "system" | "messages" | "tools">) => number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly wait: Sleep;
  readonly logger: Logger;
  /** Awaited, so that what is going to be done is on record before it is done. */
  readonly publish: Publish<"model.requested" | "model.responded" | "budget.warned">;
}

/** A model that did not answer, and why. */
interface Failure {
  readonly model: string;
  readonly why: string;
  readonly isTooLong: boolean;
}

/** Makes model calls within budgets, with retries and failover. Any number of calls may run at once. */
export function createModelCalls(options: ModelCallsOptions): ModelCalls {
  return {
    complete: (call) => new RouteCall(options, call).run(),
    promptTokens: (route, mostTokens = Infinity) =>
      Math.min(
        ...pickModels(options, route).map(({ reference, capability, outputTokens }) =>
          Math.floor(
            (capability.contextTokens - Math.min(outputTokens, mostTokens)) / options.calibration.factorOf(reference),
          ),
        ),
      ),
    windowTokens: (route) => Math.min(...pickModels(options, route).map(({ capability }) => capability.contextTokens)),
    cacheOf: (route) => cacheOf(pickModels(options, route)),
    callsTools: (route) => callsTools(options.models, route),
  };
}

/** One call on its way through its route. */
class RouteCall {
  readonly #options: ModelCallsOptions;
  readonly #call: ModelCall;
  readonly #inputTokens: number;
  readonly #limits: CallLimits;

  constructor(options: ModelCallsOptions, call: ModelCall) {
    this.#options = options;
    this.#call = call;
    this.#inputTokens = call.inputTokens ?? options.estimateTokens(call);
    this.#limits = callLimits(options.budgets, call.groupBudget);
  }

  async run(): Promise<ModelAnswer> {
    const failures: Failure[] = [];
    const { group, route, conversation = group } = this.#call;
    for (const model of pickModels(this.#options, route, conversation)) {
      const outcome = await this.#ask(model);
      if (!("why" in outcome)) return outcome;
      failures.push(outcome);
      this.#options.logger.warn(
        { group: this.#call.group, model: model.reference, why: outcome.why },
        "model call failed",
      );
    }
    throw this.#allFailed(failures);
  }

  async #ask(model: RouteModel): Promise<ModelAnswer | Failure> {
    const unfit = this.#whyUnfit(model) ?? this.#whyPassedOver(model);
    if (unfit) return unfit;
    let images = model.capability.vision ? imagesIn(this.#call.messages) : [];
    for (let attempt = 1; ; attempt += 1) {
      this.#call.signal.throwIfAborted();
      const outcome = await this.#try(model, { attempt, images });
      this.#note(model, outcome);
      if (!(outcome instanceof ProviderError)) return outcome;
      if (images.length > 0 && isRefusedRequest(outcome)) {
        // An image that a vendor refuses would otherwise end every turn of its conversation from here on.
        this.#options.logger.warn(
          { group: this.#call.group, model: model.reference, images: images.length, why: outcome.message },
          "a model refused a prompt with images; it is asked again without them",
        );
        images = [];
        continue;
      }
      const delayMs =
        attempt < this.#options.models.attempts ? retryDelayMs(outcome, attempt, this.#options.random) : undefined;
      if (delayMs === undefined) return toFailure(model, outcome, attempt);
      if (this.#options.breakers.secondsLeft(model.provider.name) !== undefined)
        return toFailure(model, outcome, attempt);
      this.#options.logger.info(
        { model: model.reference, attempt, delayMs, why: outcome.message },
        "retrying a model call",
      );
      await this.#wait(delayMs);
    }
  }

  async #wait(delayMs: number): Promise<void> {
    try {
      await this.#options.wait(delayMs, this.#call.signal);
    } finally {
      this.#call.signal.throwIfAborted();
    }
  }

  /** Returns why the model need not be called at all. */
  #whyUnfit({ reference, capability, outputTokens }: RouteModel): Failure | undefined {
    const room = capability.contextTokens - Math.min(outputTokens, this.#call.mostTokens ?? Infinity);
    const inputTokens = this.#inputTokensFor(reference);
    if (inputTokens > room)
      return {
        model: reference,
        why: `the prompt has about ${inputTokens} tokens, and there is room for ${room}`,
        isTooLong: true,
      };
    if (this.#call.tools.length > 0 && !capability.tools)
      return { model: reference, why: "it cannot use tools", isTooLong: false };
    if (limitsMoney(this.#limits) && !hasPrice(capability))
      return {
        model: reference,
        why: `there is a budget in US dollars, but its price is not known; set inputUsd and outputUsd under models.capabilities["${reference}"]`,
        isTooLong: false,
      };
    return undefined;
  }

  /** Tokens as this model would count them. */
  #inputTokensFor(reference: string): number {
    return Math.ceil(this.#inputTokens * this.#options.calibration.factorOf(reference));
  }

  /** Its provider has failed again and again. */
  #whyPassedOver({ reference, provider: { name } }: RouteModel): Failure | undefined {
    if (this.#options.breakers.mayAsk(name)) return undefined;
    const seconds = this.#options.breakers.secondsLeft(name) ?? 1;
    const why = `${name} has failed again and again, so it is not asked; it is tried again in ${seconds} s`;
    return { model: reference, why, isTooLong: false };
  }

  /** Reports an outcome to the provider's breaker. A refused request proves that it answers. */
  #note(model: RouteModel, outcome: ModelAnswer | ProviderError): void {
    const { breakers, logger } = this.#options;
    const { name } = model.provider;
    if (outcome instanceof ProviderError && outcome.failure === "too-long")
      learnWindow(this.#options, model, this.#refused(model, outcome));
    const answered = !(outcome instanceof ProviderError) || !failuresOfProvider.has(outcome.failure);
    breakers.report(name, answered);
    const seconds = breakers.secondsLeft(name);
    if (!answered && seconds !== undefined)
      logger.warn({ provider: name, seconds }, "a model provider fails again and again; it is not asked for a while");
  }

  #refused({ capability, outputTokens }: RouteModel, { windowTokens: saidTokens }: ProviderError): RefusedPrompt {
    const answerTokens = Math.min(outputTokens, this.#call.mostTokens ?? Infinity);
    return { estimated: this.#inputTokens, answerTokens, windowTokens: capability.contextTokens, saidTokens };
  }

  /** One try. What it costs is settled however it ends. */
  async #try(
    model: RouteModel,
    { attempt, images }: { readonly attempt: number; readonly images: readonly string[] },
  ): Promise<ModelAnswer | ProviderError> {
    const { clock, usage: ledger, publish } = this.#options;
    const reservation = await reserveBudget(ledger, {
      group: this.#call.group,
      groupLimits: this.#limits.group,
      totalLimits: totalLimits(this.#limits, hasPrice(model.capability)),
      isDefaultTotal: this.#limits.isDefaultTotal,
      capability: model.capability,
      inputTokens: this.#inputTokensFor(model.reference),
      outputTokens: Math.min(model.outputTokens, this.#call.mostTokens ?? Infinity),
      now: clock.now(),
      onRefused: (refusal) =>
        this.#options.logger.warn(
          { group: this.#call.group, ...refusal },
          refusal.needed === undefined ? "the day's budget is used up" : "the day's budget is too small for a call",
        ),
    });
    const tried = { model: model.reference, attempt };
    const called = { model: model.reference, turn: this.#call.turn };
    const about = { group: this.#call.group, actor: "host" } as const;
    const startedAt = clock.monotonic();
    let used: ModelUsage | undefined;
    let outcome = "failed";
    try {
      const { reservedTokens } = reservation;
      await publish({ type: "model.requested", ...about, data: { ...tried, reservedTokens } });
      const shown = await this.#read(images);
      const answer = await this.#request(model, { reservation, images: shown, onUsage: (usage) => (used = usage) });
      used = answer.usage;
      outcome = "answered";
      return answer;
    } catch (error) {
      if (this.#call.signal.aborted) outcome = "aborted";
      this.#call.signal.throwIfAborted();
      if (!(error instanceof ProviderError)) throw error;
      outcome = error.failure;
      return withoutEchoes(error, this.#call);
    } finally {
      const usd = used && costUsd(model.capability, used);
      const price = used ? { ...used, usd } : { inputTokens: 0, outputTokens: 0, usd: 0 };
      const elapsedMs = clock.monotonic() - startedAt;
      // Images are estimated by their number alone, so prompts with some say nothing.
      const told = { estimated: this.#inputTokens, counted: images.length === 0 ? used : undefined };
      const tokenFactor = this.#options.calibration.learn(model.reference, told);
      const [use] = await Promise.all([
        ledger.settle(reservation.id, { ...called, ...price, tokenFactor }),
        publish({ type: "model.responded", ...about, data: { ...tried, outcome, usage: used, usd, elapsedMs } }),
      ]);
      const whose = { group: this.#call.group, limits: this.#limits, hasPrice: hasPrice(model.capability) };
      if (use) await warnOfBudgets(use, whose, this.#options);
    }
  }

  #request(
    { reference, model, provider, entry: { thinking, temperature } }: RouteModel,
    {
      reservation,
      images,
      onUsage,
    }: Pick<ProviderRequest, "images"> & {
      readonly reservation: Reservation;
      readonly onUsage: (usage: ModelUsage) => void;
    },
  ): Promise<ModelAnswer> {
    const { system, tools, signal, onTry } = this.#call;
    const messages = withThoughtsOf(reference, this.#call.messages);
    return provider.complete(
      { model, system, messages, tools, maxOutputTokens: reservation.outputTokens, images, thinking, temperature },
      { signal, onDelta: onTry?.(), onUsage },
    );
  }

  /** In memory for as long as the call lasts. One that cannot be had is told to the model in words. */
  async #read(images: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
    const read = new Map<string, Uint8Array>();
    for (const sha256 of images) {
      const bytes = await this.#options.readImage(sha256).catch((error: unknown) => {
        this.#options.logger.error({ err: toError(error), group: this.#call.group }, "an image cannot be shown");
      });
      if (bytes) read.set(sha256, bytes);
    }
    return read;
  }

  #allFailed(failures: readonly Failure[]): AppError {
    const list = failures.map(({ model, why }) => `${model}: ${why}`).join("; ");
    if (failures.every(({ isTooLong }) => isTooLong))
      return new AppError("context_too_large", `The conversation does not fit in any model of the route. ${list}.`);
    return new AppError("model_unavailable", `No model answered. ${list}.`);
  }
}

/** Failures caused by the provider, not by the request or the key. */
const failuresOfProvider: ReadonlySet<ProviderFailure> = new Set(["rate-limited", "overloaded", "unavailable"]);

function isRefusedRequest({ failure }: ProviderError): boolean {
  return failure === "invalid" || failure === "too-long";
}

function toFailure(model: RouteModel, error: ProviderError, attempts: number): Failure {
  const tries = attempts === 1 ? "1 try" : `${attempts} tries`;
  return {
    model: model.reference,
    why: `${error.failure} after ${tries} (${error.message})`,
    isTooLong: error.failure === "too-long",
  };
}
