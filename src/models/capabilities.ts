import table from "./models.json" with { type: "json" };

/** What a model can do and costs. Prices in US dollars per million tokens; `undefined` = not known. */
export interface Capability {
  readonly contextTokens: number;
  readonly maxOutputTokens: number;
  readonly vision: boolean;
  readonly tools: boolean;
  readonly inputUsd: number | undefined;
  readonly cachedInputUsd: number | undefined;
  readonly outputUsd: number | undefined;
}

export type CapabilityOverride = { readonly [Key in keyof Capability]?: Capability[Key] | undefined };

/** For models that nobody told us about, most of them small ones on the user's own machine. */
const unknownModel: Capability = {
  contextTokens: 32_768,
  maxOutputTokens: 4_096,
  vision: false,
  tools: true,
  inputUsd: undefined,
  cachedInputUsd: undefined,
  outputUsd: undefined,
};

/**
 * The answers of models with room for 128,000 tokens hardly ever use it, but each call reserves its whole output in the
 * budget. Thinking counts as output, so this is not small either.
 */
const usualOutputTokens = 32_000;

/**
 * What is known of a model: `models.json`, changed by the configuration. Its numbers are those of the vendors' price lists
 * (platform.claude.com and developers.openai.com) as of November 2026, with three decisions:
 * - Windows are at most 200,000 tokens although most models take a million: every step pays for the whole prompt, and above
 *   200,000 to 272,000 tokens (Claude Haiku 5.5: 100,000) the vendors ask more for each.
 * - `inputUsd` is the price of writing the prompt cache where there is one (Anthropic, and OpenAI from GPT-5.6 on), because
 *   all of the prompt that is not read from the cache is written to it. A budget errs on the safe side.
 * - The dated name of a model (`…-2026-09-29`, `…-20251001`) means the model.
 */
export function capabilityOf(kind: string, model: string, override: CapabilityOverride = {}): Capability {
  const models = (table as Readonly<Record<string, Readonly<Record<string, Capability>>>>)[kind] ?? {};
  const known = models[model] ?? models[model.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, "")] ?? unknownModel;
  const given = Object.fromEntries(Object.entries(override).filter(([, value]) => value !== undefined));
  return { ...known, ...given };
}

/** The most that one answer of the model may have. */
export function outputTokensOf(capability: Capability): number {
  return Math.min(capability.maxOutputTokens, usualOutputTokens, Math.floor(capability.contextTokens / 2));
}

interface Routes {
  readonly default: string;
  readonly routes: Readonly<Record<string, readonly string[]>>;
  readonly providers: Readonly<Record<string, { readonly kind: string }>>;
  readonly capabilities: Readonly<Record<string, CapabilityOverride>>;
}

/** Can some model of this route (undefined: the default one) call tools? The others are passed over when there are any. */
export function callsTools(models: Routes, route: string | undefined): boolean {
  return someModel(models, route, ({ tools }) => tools);
}

/** Can some model of this route be shown images? The others are told of them in words. */
export function seesImages(models: Routes, route: string | undefined): boolean {
  return someModel(models, route, ({ vision }) => vision);
}

function someModel(models: Routes, route: string | undefined, can: (capability: Capability) => boolean): boolean {
  return modelsOfRoute(models, route).some(({ capability }) => can(capability));
}

/** The models of this route (undefined: the default one), in order. */
export function modelsOfRoute(
  models: Routes,
  route: string | undefined,
): { readonly reference: string; readonly capability: Capability }[] {
  return (models.routes[route ?? models.default] ?? []).map((reference) => {
    const [provider = "", ...model] = reference.split("/");
    const kind = models.providers[provider]?.kind ?? "";
    return { reference, capability: capabilityOf(kind, model.join("/"), models.capabilities[reference]) };
  });
}

/** What a call costs in US dollars; `undefined` when a price that it needs is not known. */
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
