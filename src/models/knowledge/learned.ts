import { createHash } from "node:crypto";

import type { LearnedWindow } from "../../domain/turns/usage.ts";
import { canonicalJson } from "../../lib/canonical-json.ts";
import type { CapabilityOverride } from "./capabilities.ts";
import { partsOfReference } from "../routes/routes.ts";

/**
 * What was learned longer ago is learned anew, which costs one refused request: a window may have grown, or was taken
 * for too small.
 */
const keptMs = 30 * 86_400_000;

export interface DescribedModels {
  readonly providers: Readonly<Record<string, { readonly kind: string }>>;
  readonly capabilities: Readonly<Record<string, CapabilityOverride>>;
}

/**
 * Stands for what the configuration says of a model, its keys left out. Another server or another window gives another
 * text.
 */
export function describeModel({ providers, capabilities }: DescribedModels, reference: string): string {
  const { apiKey: _, ...provider } = { apiKey: undefined, ...providers[partsOfReference(reference).provider] };
  const said = canonicalJson({ provider, capability: capabilities[reference] });
  return createHash("sha256").update(said).digest("hex").slice(0, 32);
}

/** Does what was learned of a window still hold? */
export function stillHolds(learned: LearnedWindow, models: DescribedModels, now: number): boolean {
  return learned.learnedAt > now - keptMs && learned.described === describeModel(models, learned.model);
}
