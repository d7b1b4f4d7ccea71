import { createHash } from "node:crypto";

/** Reasoning effort; the vendor's default when omitted. */
export const efforts = ["off", "low", "medium", "high"] as const;

export type Effort = (typeof efforts)[number];

/** A model of a route, and how it is asked. */
export interface RouteEntry {
  /** `provider/model`; the model's name may hold slashes itself. */
  readonly model: string;
  readonly thinking?: Effort | undefined;
  readonly temperature?: number | undefined;
  /** Maximum tokens of an answer, reasoning included. */
  readonly maxOutputTokens?: number | undefined;
  /** Weight for choosing a conversation's first model at random among weighted entries. */
  readonly weight?: number | undefined;
}

/** Routes in config.yaml: a model alone, or with its options. */
export type Routes = Readonly<Record<string, readonly (string | RouteEntry)[]>>;

/** `provider/model` in its two parts. */
export function partsOfReference(reference: string): { readonly provider: string; readonly model: string } {
  const [provider = "", ...model] = reference.split("/");
  return { provider, model: model.join("/") };
}

/** Entries of a route as written; undefined for an unknown route. */
export function entriesOf(routes: Routes, name: string): readonly RouteEntry[] | undefined {
  if (!Object.hasOwn(routes, name)) return undefined;
  return routes[name]?.map((entry) => (typeof entry === "string" ? { model: entry } : entry));
}

/** Model references of a route, in order. */
export function referencesOf(routes: Routes, name: string): readonly string[] {
  return (entriesOf(routes, name) ?? []).map(({ model }) => model);
}

/** Model references of every route. */
export function allReferences(routes: Routes): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(Object.keys(routes).map((name) => [name, referencesOf(routes, name)]));
}

/**
 * The entries in the order in which they are asked in a conversation: those with a weight first, each the first one of
 * as many conversations as its share of the weights, and always of the same ones, so that a vendor's cache of the
 * prompt stays of use; then the others as they are written. Weighted rendezvous hashing (Schindelhauer, Schomaker
 * 2005): the largest of -w/ln(h) comes first.
 */
export function orderFor(entries: readonly RouteEntry[], conversation: string): readonly RouteEntry[] {
  const weighted = entries.filter(({ weight }) => weight !== undefined);
  if (weighted.length === 0) return entries;
  const scored = weighted.map((entry) => ({
    entry,
    score: -(entry.weight ?? 0) / Math.log(draw(entry.model, conversation)),
  }));
  const first = scored.toSorted((one, other) => other.score - one.score).map(({ entry }) => entry);
  return [...first, ...entries.filter(({ weight }) => weight === undefined)];
}

/** A number between 0 and 1 that both of them alone decide. */
function draw(model: string, conversation: string): number {
  const digest = createHash("sha256")
    .update(JSON.stringify([model, conversation]))
    .digest();
  return (digest.readUIntBE(0, 6) + 1) / (2 ** 48 + 2);
}
