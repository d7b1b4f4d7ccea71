import type { ModelAnswer } from "../domain/turns/model.ts";
import { createModelCalls, type ModelCall, type ModelCalls, type ModelCallsOptions } from "./model-calls.ts";
import type { ProviderSet } from "./routes/provider-set.ts";

type Configured = Pick<ModelCallsOptions, "models" | "budgets">;

/** Options of `ConfiguredModels`: those of its calls, and where the configuration of now is found. */
export interface ConfiguredModelsOptions extends Omit<
  ModelCallsOptions,
  keyof Configured | "providers" | "breakers" | "calibration"
> {
  readonly live: { readonly current: Configured };
  readonly providers: ProviderSet;
}

/** Calls models as they are configured, which may change while calls run. */
export class ConfiguredModels {
  readonly #options: ConfiguredModelsOptions;

  constructor(options: ConfiguredModelsOptions) {
    this.#options = options;
  }

  /** Returns calls by the configuration of now, which stays the same for them until they are disposed. */
  hold(): ModelCalls & Disposable {
    const { live, providers, ...options } = this.#options;
    const held = providers.hold();
    const { models, budgets } = live.current;
    const { breakers, calibration } = providers;
    const calls = createModelCalls({ ...options, models, budgets, providers: held.byName, breakers, calibration });
    return { ...calls, [Symbol.dispose]: () => held[Symbol.dispose]() };
  }

  /** Makes one call by the configuration of now. */
  async complete(call: ModelCall): Promise<ModelAnswer> {
    using held = this.hold();
    return await held.complete(call);
  }
}
