import type { LearnedWindow } from "../domain/usage.ts";
import { AppError } from "../lib/app-error.ts";
import type { ModelView } from "./model-view.ts";

/** What is configured, or known, of a model. */
interface KnownModel {
  readonly reference: string;
  readonly routes: readonly string[];
  readonly windowTokens: number;
}

export interface ModelReadingOptions {
  readonly store: {
    readonly usage: {
      learnedWindows(): Promise<readonly LearnedWindow[]>;
      tokenFactors(): Promise<ReadonlyMap<string, number>>;
    };
  };
  /** Those of all routes, and what is known of others. */
  readonly models: {
    list(): readonly KnownModel[];
    windowOf(reference: string): number;
  };
}

/** Models of routes first, then others of which something was learned. */
export async function listModels({ store, models }: ModelReadingOptions): Promise<ModelView[]> {
  const factors = await store.usage.tokenFactors();
  const windows = new Map((await store.usage.learnedWindows()).map((learned) => [learned.model, learned]));
  const known = models.list();
  const others = [...new Set([...factors.keys(), ...windows.keys()])]
    .filter((name) => known.every(({ reference }) => reference !== name))
    .map((reference) => ({ reference, routes: [], windowTokens: models.windowOf(reference) }));
  return [...known, ...others].map(({ reference, routes, windowTokens }) => {
    const [learned, factor] = [windows.get(reference), factors.get(reference)];
    return {
      name: reference,
      routes,
      windowTokens: Math.min(windowTokens, learned?.windowTokens ?? Infinity),
      ...(learned && { learned: { windowTokens: learned.windowTokens, at: learned.learnedAt } }),
      ...(factor !== undefined && { factor }),
    };
  });
}

export interface ModelOperationOptions extends ModelReadingOptions {
  /** In memory and in the store. */
  readonly forgetLearned: (models: readonly string[]) => Promise<void>;
}

export async function forgetModels(options: ModelOperationOptions, name: string | undefined): Promise<string[]> {
  const learned = (await listModels(options)).filter((model) => model.learned ?? model.factor !== undefined);
  const chosen = learned.map((model) => model.name).filter((each) => name === undefined || each === name);
  if (name !== undefined && chosen.length === 0)
    throw new AppError("not_found", `Nothing was learned of a model "${name}".`, {
      fix: "`crabpot models list` names those of which something was",
    });
  if (chosen.length > 0) await options.forgetLearned(chosen);
  return chosen;
}
