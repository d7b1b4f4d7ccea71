import { createHash } from "node:crypto";

import type { LearnedWindow } from "../../domain/turns/usage.ts";
import { canonicalJson } from "../../lib/canonical-json.ts";
import type { CapabilityOverride } from "./capabilities.ts";
import { partsOfReference } from "../routes/routes.ts";

/**
 * Age after which a learned window expires, at the cost of one refused request: it may have grown, or been taken for
 * too small.
 */
const keptMs = 30 * 86_400_000;

export interface DescribedModels {
  readonly providers: Readonly<Record<string, { readonly kind: string }>>;
  readonly capabilities: Readonly<Record<string, CapabilityOverride>>;
}

/** Fingerprint of a model's configuration, without its keys. Another server or window gives another text. */
export function describeModel({ providers, capabilities }: DescribedModels, reference: string): string {
  const { apiKey: _, ...provider } = { apiKey: undefined, ...providers[partsOfReference(reference).provider] };
  const said = canonicalJson({ provider, capability: capabilities[reference] });
  return createHash("sha256").update(said).digest("hex").slice(0, 32);
}

/** True while a learned window is still valid. */
export function stillHolds(learned: LearnedWindow, models: DescribedModels, now: number): boolean {
  return learned.learnedAt > now - keptMs && learned.described === describeModel(models, learned.model);
}
