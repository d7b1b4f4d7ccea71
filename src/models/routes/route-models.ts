import type { Logger } from "pino";

import { AppError } from "../../lib/app-error.ts";
import type { RefusedPrompt, TokenCalibration } from "../costs/calibration.ts";
import { type Capability, capabilityOf, type CapabilityOverride, outputTokensOf } from "../knowledge/capabilities.ts";
import type { Provider } from "../provider.ts";
import { entriesOf, orderFor, partsOfReference, type RouteEntry, type Routes } from "./routes.ts";

/** A model of a route, as far as is known of it now. */
export interface RouteModel {
  readonly reference: string;
  readonly model: string;
  readonly provider: Provider;
  readonly capability: Capability;
  /** The most that one answer may have. */
  readonly outputTokens: number;
  readonly entry: RouteEntry;
}

/** Sources for a route's models. */
export interface RouteModelsOptions {
  readonly models: {
    readonly default: string;
    readonly routes: Routes;
    readonly providers: Readonly<Record<string, { readonly kind: string }>>;
    readonly capabilities: Readonly<Record<string, CapabilityOverride>>;
  };
  readonly providers: ReadonlyMap<string, Provider>;
  readonly calibration: TokenCalibration;
}

/**
 * Models of a route (default: the default route), in this conversation's order. Throws `config_invalid` for an unknown
 * one.
 */
export function pickModels(
  options: RouteModelsOptions,
  route: string | undefined,
  conversation?: string,
): RouteModel[] {
  const { models, providers } = options;
  const name = route ?? models.default;
  const entries = entriesOf(models.routes, name);
  if (entries === undefined) throw new AppError("config_invalid", `There is no model route ${name} in models.routes.`);
  const ordered = conversation === undefined ? entries : orderFor(entries, conversation);
  return ordered.map((entry) => {
    const { model: reference } = entry;
    const { provider: providerName, model } = partsOfReference(reference);
    const provider = providers.get(providerName);
    const kind = models.providers[providerName]?.kind;
    if (provider === undefined || kind === undefined)
      throw new AppError(
        "config_invalid",
        `The route ${name} names ${reference}, but models.providers has no ${providerName}.`,
      );
    const known = capabilityOf(kind, model, models.capabilities[reference]);
    const contextTokens = Math.min(known.contextTokens, options.calibration.windowOf(reference));
    const capability = { ...known, contextTokens };
    const outputTokens = outputTokensOf(capability, entry.maxOutputTokens);
    return { reference, model, provider, capability, outputTokens, entry };
  });
}

/** A model's server has refused a prompt as too long: the next ones are shorter, and the operator is told why. */
export function learnWindow(
  { calibration, logger }: { readonly calibration: TokenCalibration; readonly logger: Pick<Logger, "warn"> },
  { reference, capability }: Pick<RouteModel, "reference" | "capability">,
  refused: RefusedPrompt,
): void {
  calibration.tooLong(reference, refused);
  const windowTokens = calibration.windowOf(reference);
  if (windowTokens >= capability.contextTokens) return;
  logger.warn(
    { model: reference, windowTokens, known: capability.contextTokens },
    `a model has a smaller window than was thought; to have it right from the start, set models.capabilities["${reference}"].contextTokens`,
  );
}
