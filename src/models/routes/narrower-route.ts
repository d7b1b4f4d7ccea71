import { modelsOfRoute } from "../knowledge/capabilities.ts";

/**
 * Returns why a route may not replace another without a decision, for a model; undefined when it may. It may use no
 * other providers and cost no more.
 */
export function refusalOfRoute(
  models: Parameters<typeof modelsOfRoute>[0],
  { wanted, own }: { readonly wanted: string; readonly own: string | undefined },
): string | undefined {
  if (!Object.hasOwn(models.routes, wanted)) {
    const known = Object.keys(models.routes).filter(
      (route) => refusalOfRoute(models, { wanted: route, own }) === undefined,
    );
    return `There is no route "${wanted}". You may name: ${known.join(", ")}.`;
  }
  const mine = modelsOfRoute(models, own);
  const references = new Set(mine.map(({ reference }) => reference));
  const providers = new Set(mine.map(({ reference }) => providerOf(reference)));
  for (const { reference, capability } of modelsOfRoute(models, wanted)) {
    if (references.has(reference)) continue;
    if (!providers.has(providerOf(reference)))
      return `The route "${wanted}" asks a provider that yours does not ask. Leave route out.`;
    const isCheaper = mine.some(({ capability: ours }) => isNoDearer(capability, ours));
    if (!isCheaper) return `The route "${wanted}" may cost more than yours. Leave route out.`;
  }
  return undefined;
}

type Prices = ReturnType<typeof modelsOfRoute>[number]["capability"];

/** True when no price is higher; an unknown price may be any. */
function isNoDearer(one: Prices, other: Prices): boolean {
  const { inputUsd, outputUsd } = one;
  if (inputUsd === undefined || outputUsd === undefined) return false;
  return inputUsd <= (other.inputUsd ?? -1) && outputUsd <= (other.outputUsd ?? -1);
}

function providerOf(reference: string): string {
  return reference.split("/", 1)[0] ?? "";
}
