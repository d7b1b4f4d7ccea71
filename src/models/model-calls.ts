import type { Logger } from "pino";

import type { BudgetLimits } from "../domain/group.ts";
import { type DayUse, defaultTotalUsd } from "../domain/usage.ts";
import type { ModelAnswer, ModelMessage, ModelUsage, ToolDefinition } from "../domain/model.ts";
import type { Publish } from "../events/event.ts";
import { partsOf } from "../domain/part.ts";
import { AppError, toError } from "../lib/app-error.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { Sleep } from "../lib/time/sleep.ts";
import { budgetWarnings, reserveBudget } from "./budget.ts";
import type { Reservation, UsageLedger } from "./budget.ts";
import { capabilityOf, costUsd, outputTokensOf } from "./capabilities.ts";
import type { Capability, CapabilityOverride } from "./capabilities.ts";
import { withoutEchoes } from "./echoes.ts";
import { ProviderError } from "./provider.ts";
import type { OnDelta, Provider, ProviderRequest } from "./provider.ts";
import { retryDelayMs } from "./retry.ts";

export interface ModelCall {
  readonly group: string;
  /** What the call is for; undefined: for no turn. */
  readonly turn?: string | undefined;
  /** `undefined` = the default route. */
  readonly route: string | undefined;
  /** The group's own limits; those that it does not set are the configuration's `perGroup`. */
  readonly groupBudget: BudgetLimits;
  readonly system: readonly string[];
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolDefinition[];
  /** What `estimateTokens` would say of the prompt, where the caller knows it: estimating a long one takes a while. */
  readonly inputTokens?: number | undefined;
  readonly signal: AbortSignal;
  /** Text as it streams in. After a failed try it comes again from the beginning. */
  readonly onDelta?: OnDelta | undefined;
}

export interface ModelCalls {
  /**
   * Asks the models of the route, in order, until one answers. Rejects with the signal's reason when aborted, otherwise with
   * AppError: `budget_exhausted`; `context_too_large` when no model of the route has room for the prompt;
   * `model_unavailable`, which lists what was tried.
   */
  complete(call: ModelCall): Promise<ModelAnswer>;
  /** How many tokens a prompt may have so that each model of the route has room for it and for its answer. */
  promptTokens(route: string | undefined): number;
}

type Limits = { readonly [Key in keyof BudgetLimits]?: BudgetLimits[Key] };

export interface ModelCallsOptions {
  readonly models: {
    readonly default: string;
    readonly routes: Readonly<Record<string, readonly string[]>>;
    readonly providers: Readonly<Record<string, { readonly kind: string }>>;
    readonly capabilities: Readonly<Record<string, CapabilityOverride>>;
    readonly attempts: number;
  };
  readonly budgets: { readonly perGroup: Limits; readonly total: Limits; readonly warnAtPercent: number };
  readonly providers: ReadonlyMap<string, Provider>;
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

/** A model of a route. */
interface RouteModel {
  readonly reference: string;
  readonly model: string;
  readonly provider: Provider;
  readonly capability: Capability;
}

/** A model that did not answer, and why. */
interface Failure {
  readonly model: string;
  readonly why: string;
  readonly isTooLong: boolean;
}

/** Makes model calls within budgets, with retries and failover. Has no state of its own: any number of calls may run at once. */
export function createModelCalls(options: ModelCallsOptions): ModelCalls {
  return {
    complete: (call) => new RouteCall(options, call).run(),
    promptTokens: (route) =>
      Math.min(
        ...modelsOf(options, route).map(({ capability }) => capability.contextTokens - outputTokensOf(capability)),
      ),
  };
}

function modelsOf(options: ModelCallsOptions, route: string | undefined): RouteModel[] {
  const { models, providers } = options;
  const name = route ?? models.default;
  const references = models.routes[name];
  if (references === undefined)
    throw new AppError("config_invalid", `There is no model route ${name} in models.routes.`);
  return references.map((reference) => {
    const [providerName = "", ...rest] = reference.split("/");
    const model = rest.join("/");
    const provider = providers.get(providerName);
    const kind = models.providers[providerName]?.kind;
    if (provider === undefined || kind === undefined)
      throw new AppError(
        "config_invalid",
        `The route ${name} names ${reference}, but models.providers has no ${providerName}.`,
      );
    return { reference, model, provider, capability: capabilityOf(kind, model, models.capabilities[reference]) };
  });
}

/** One call on its way through its route. */
class RouteCall {
  readonly #options: ModelCallsOptions;
  readonly #call: ModelCall;
  readonly #inputTokens: number;
  readonly #groupLimits: BudgetLimits;
  readonly #totalLimits: BudgetLimits;
  readonly #isDefaultTotal: boolean;

  constructor(options: ModelCallsOptions, call: ModelCall) {
    const { perGroup, total } = options.budgets;
    this.#options = options;
    this.#call = call;
    this.#inputTokens = call.inputTokens ?? options.estimateTokens(call);
    this.#groupLimits = {
      tokensPerDay: call.groupBudget.tokensPerDay ?? perGroup.tokensPerDay,
      usdPerDay: call.groupBudget.usdPerDay ?? perGroup.usdPerDay,
    };
    this.#totalLimits = { tokensPerDay: total.tokensPerDay, usdPerDay: total.usdPerDay };
    this.#isDefaultTotal = total.tokensPerDay === undefined && total.usdPerDay === undefined;
  }

  async run(): Promise<ModelAnswer> {
    const failures: Failure[] = [];
    for (const model of modelsOf(this.#options, this.#call.route)) {
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
    const unfit = this.#whyUnfit(model);
    if (unfit) return unfit;
    let images = model.capability.vision ? imagesIn(this.#call.messages) : [];
    for (let attempt = 1; ; attempt += 1) {
      this.#call.signal.throwIfAborted();
      const outcome = await this.#try(model, { attempt, images });
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

  /** Why the model need not be asked at all. */
  #whyUnfit({ reference, capability }: RouteModel): Failure | undefined {
    const room = capability.contextTokens - outputTokensOf(capability);
    if (this.#inputTokens > room)
      return {
        model: reference,
        why: `the prompt has about ${this.#inputTokens} tokens, and there is room for ${room}`,
        isTooLong: true,
      };
    if (this.#call.tools.length > 0 && !capability.tools)
      return { model: reference, why: "it cannot use tools", isTooLong: false };
    const hasMoneyLimit = this.#groupLimits.usdPerDay !== undefined || this.#totalLimits.usdPerDay !== undefined;
    if (hasMoneyLimit && !hasPrice(capability))
      return {
        model: reference,
        why: `there is a budget in US dollars, but its price is not known; set inputUsd and outputUsd under models.capabilities["${reference}"]`,
        isTooLong: false,
      };
    return undefined;
  }

  /** The default is a limit in money, and says nothing of calls that have no price. */
  #totalLimitsFor({ capability }: RouteModel): BudgetLimits {
    if (!this.#isDefaultTotal || !hasPrice(capability)) return this.#totalLimits;
    return { tokensPerDay: undefined, usdPerDay: defaultTotalUsd };
  }

  /** One try. What it costs is settled however it ends. */
  async #try(
    model: RouteModel,
    { attempt, images }: { readonly attempt: number; readonly images: readonly string[] },
  ): Promise<ModelAnswer | ProviderError> {
    const { clock, usage: ledger, publish } = this.#options;
    const reservation = await reserveBudget(ledger, {
      group: this.#call.group,
      groupLimits: this.#groupLimits,
      totalLimits: this.#totalLimitsFor(model),
      isDefaultTotal: this.#isDefaultTotal,
      capability: model.capability,
      inputTokens: this.#inputTokens,
      outputTokens: outputTokensOf(model.capability),
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
      const { inputTokens = 0, outputTokens = 0 } = used ?? {};
      const price = used ? usd : 0;
      const elapsedMs = clock.monotonic() - startedAt;
      const [use] = await Promise.all([
        ledger.settle(reservation.id, { ...called, inputTokens, outputTokens, usd: price }),
        publish({ type: "model.responded", ...about, data: { ...tried, outcome, usage: used, usd, elapsedMs } }),
      ]);
      if (use) await this.#warn(use, model);
    }
  }

  async #warn(use: DayUse, model: RouteModel): Promise<void> {
    const { budgets, usage, publish } = this.#options;
    const warnings = await budgetWarnings(usage, use, {
      group: this.#call.group,
      groupLimits: this.#groupLimits,
      totalLimits: this.#totalLimitsFor(model),
      percent: budgets.warnAtPercent,
    });
    for (const data of warnings) {
      const group = data.limit.startsWith("group ") ? this.#call.group : undefined;
      await publish({ type: "budget.warned", group, actor: "host", data });
    }
  }

  #request(
    { model, provider }: RouteModel,
    {
      reservation,
      images,
      onUsage,
    }: Pick<ProviderRequest, "images"> & {
      readonly reservation: Reservation;
      readonly onUsage: (usage: ModelUsage) => void;
    },
  ): Promise<ModelAnswer> {
    const { system, messages, tools, signal, onDelta } = this.#call;
    return provider.complete(
      { model, system, messages, tools, maxOutputTokens: reservation.outputTokens, images },
      { signal, onDelta, onUsage },
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

/** Each once. */
function imagesIn(messages: readonly ModelMessage[]): string[] {
  const parts = messages.flatMap((message) => {
    if (message.role === "assistant") return [];
    return message.role === "user" ? partsOf(message) : message.results.flatMap(partsOf);
  });
  return [...new Set(parts.flatMap((part) => (part.kind === "image" ? [part.blob] : [])))];
}

function isRefusedRequest({ failure }: ProviderError): boolean {
  return failure === "invalid" || failure === "too-long";
}

function hasPrice(capability: Capability): boolean {
  return costUsd(capability, { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1 }) !== undefined;
}

function toFailure(model: RouteModel, error: ProviderError, attempts: number): Failure {
  const tries = attempts === 1 ? "1 try" : `${attempts} tries`;
  return {
    model: model.reference,
    why: `${error.failure} after ${tries} (${error.message})`,
    isTooLong: error.failure === "too-long",
  };
}
