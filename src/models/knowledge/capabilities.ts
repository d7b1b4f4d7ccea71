import table from "./models.json" with { type: "json" };
import { partsOfReference, referencesOf } from "../routes/routes.ts";
import type { Routes } from "../routes/routes.ts";

/** Abilities and prices of a model. US dollars per million tokens; `undefined` means unknown. */
export interface Capability {
  readonly contextTokens: number;
  readonly maxOutputTokens: number;
  readonly vision: boolean;
  readonly tools: boolean;
  readonly inputUsd: number | undefined;
  readonly cachedInputUsd: number | undefined;
  readonly outputUsd: number | undefined;
  /** Minutes that the vendor keeps a prompt in its cache. */
  readonly cacheMinutes: number;
}

export type CapabilityOverride = { readonly [Key in keyof Capability]?: Capability[Key] | undefined };

/** Anthropic's and OpenAI's are as short as this; some live longer, none shorter. */
const usualCacheMinutes = 5;

/** Fallback for unknown models, most of them small local ones. */
const unknownModel: Capability = {
  contextTokens: 32_768,
  maxOutputTokens: 4_096,
  vision: false,
  tools: true,
  inputUsd: undefined,
  cachedInputUsd: undefined,
  outputUsd: undefined,
  cacheMinutes: usualCacheMinutes,
};

/**
 * The answers of models with room for 128,000 tokens hardly ever use it, but each call reserves its whole output in the
 * budget. Thinking counts as output, so this is not small either.
 */
const usualOutputTokens = 32_000;

/**
 * Returns what is known of a model: `models.json`, overridden by the configuration. Its numbers are the vendors' prices
 * of November 2026 (sources in docs/models.md); a missing price is unknown. Four decisions:
 * - Windows are at most 200,000 tokens although most models take a million: every step pays for the whole prompt, and
 *   above 200,000 to 272,000 tokens (Claude Haiku 5.5: 100,000) prices rise.
 * - `inputUsd` is the price of writing the prompt cache where there is one (Anthropic, and OpenAI from GPT-5.6 on),
 *   because everything not read from the cache is written to it. A budget errs on the safe side.
 * - Of prices that change with the hour (DeepSeek) or are low for a while (Gemini), the higher one counts, for the same
 *   reason.
 * - The dated name of a model (`…-2026-09-29`, `…-20251001`) means the model.
 */
export function capabilityOf(kind: string, model: string, override: CapabilityOverride = {}): Capability {
  const models = (table as Readonly<Record<string, Readonly<Record<string, Partial<Capability>>>>>)[kind] ?? {};
  const listed = models[model] ?? models[model.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, "")];
  const known = { ...unknownModel, ...listed };
  const given = Object.fromEntries(Object.entries(override).filter(([, value]) => value !== undefined));
  return { ...known, ...given };
}

/** The most that one answer of the model may have. `wanted`: what its route says. */
export function outputTokensOf(capability: Capability, wanted = usualOutputTokens): number {
  return Math.min(capability.maxOutputTokens, wanted, Math.floor(capability.contextTokens / 2));
}

/** Settings of models by which their abilities are known. */
export interface ModelSettings {
  readonly default: string;
  readonly routes: Routes;
  readonly providers: Readonly<Record<string, { readonly kind: string }>>;
  readonly capabilities: Readonly<Record<string, CapabilityOverride>>;
}

/** True when some model of this route (default: the default route) can call tools; then the others are skipped. */
export function callsTools(models: ModelSettings, route: string | undefined): boolean {
  return someModel(models, route, ({ tools }) => tools);
}

/** True when some model of this route (default: the default route) can see images; the others get descriptions. */
export function seesImages(models: ModelSettings, route: string | undefined): boolean {
  return someModel(models, route, ({ vision }) => vision);
}

function someModel(
  models: ModelSettings,
  route: string | undefined,
  can: (capability: Capability) => boolean,
): boolean {
  return modelsOfRoute(models, route).some(({ capability }) => can(capability));
}

/** Models of this route (default: the default route), in order. */
export function modelsOfRoute(
  models: ModelSettings,
  route: string | undefined,
): { readonly reference: string; readonly capability: Capability }[] {
  return referencesOf(models.routes, route ?? models.default).map((reference) => ({
    reference,
    capability: capabilityOfReference(models, reference),
  }));
}

/** The smallest window of the models of this route, in tokens. */
export function windowTokensOf(models: ModelSettings, route: string | undefined): number {
  return Math.min(...modelsOfRoute(models, route).map(({ capability }) => capability.contextTokens));
}

/** Maximum prompt for which each model still has room for its longest answer, in the models' tokens. */
export function promptTokensOf(models: ModelSettings, route: string | undefined): number {
  return Math.min(
    ...modelsOfRoute(models, route).map(({ capability }) => capability.contextTokens - outputTokensOf(capability)),
  );
}

/**
 * The models of all routes, each once, with the routes that name it. Where there is no configuration that can be used,
 * none is known.
 */
export function knownModels(settings: () => ModelSettings | undefined): {
  list(): { readonly reference: string; readonly routes: readonly string[]; readonly windowTokens: number }[];
  windowOf(reference: string): number;
} {
  const windowOf = (reference: string): number =>
    capabilityOfReference(settings() ?? { providers: {}, capabilities: {} }, reference).contextTokens;
  const list = (): ReturnType<ReturnType<typeof knownModels>["list"]> => {
    const { routes = {} } = settings() ?? {};
    const named = Object.keys(routes).flatMap((route) =>
      referencesOf(routes, route).map((reference) => ({ reference, route })),
    );
    const byModel = Map.groupBy(named, ({ reference }) => reference);
    return [...byModel].map(([reference, all]) => ({
      reference,
      routes: [...new Set(all.map(({ route }) => route))],
      windowTokens: windowOf(reference),
    }));
  };
  return { list, windowOf };
}

function capabilityOfReference(
  { providers, capabilities }: Pick<ModelSettings, "providers" | "capabilities">,
  reference: string,
): Capability {
  const { provider, model } = partsOfReference(reference);
  return capabilityOf(providers[provider]?.kind ?? "", model, capabilities[reference]);
}

/** A vendor's prompt cache. */
export interface CacheTraits {
  /** Lifetime of cached prompts; the longest of several. */
  readonly ms: number;
  /** True when cached tokens of this model have a separate price. */
  readonly isPriced: (reference: string) => boolean;
}

export function cacheOf(
  models: readonly { readonly reference: string; readonly capability: Capability }[],
): CacheTraits {
  const minutes = models.map(({ capability }) => capability.cacheMinutes);
  const priced = models.filter(({ capability }) => capability.cachedInputUsd !== undefined);
  return {
    ms: Math.max(...minutes) * 60_000,
    isPriced: (reference) => priced.some((model) => model.reference === reference),
  };
}

export function hasPrice({ inputUsd, outputUsd }: Capability): boolean {
  return inputUsd !== undefined && outputUsd !== undefined;
}

/** Cost of a call of the referenced model in US dollars; `undefined` when a needed price is unknown. */
export function costOfReference(
  models: Pick<ModelSettings, "providers" | "capabilities">,
  reference: string,
  usage: Parameters<typeof costUsd>[1],
): number | undefined {
  return costUsd(capabilityOfReference(models, reference), usage);
}

/** Cost of a call in US dollars; `undefined` when a needed price is unknown. */
export function costUsd(
  capability: Capability,
  usage: { readonly inputTokens: number; readonly cachedInputTokens: number; readonly outputTokens: number },
): number | undefined {
  const { inputUsd, outputUsd } = capability;
  if (inputUsd === undefined || outputUsd === undefined) return undefined;
  const cachedUsd = capability.cachedInputUsd ?? inputUsd;
  const fresh = usage.inputTokens - usage.cachedInputTokens;
  return (fresh * inputUsd + usage.cachedInputTokens * cachedUsd + usage.outputTokens * outputUsd) / 1e6;
}
