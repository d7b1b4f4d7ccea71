import { toError } from "../lib/app-error.ts";
import { sleep } from "../lib/time/sleep.ts";
import { openLateProvider } from "../models/catalog.ts";
import { ConfiguredModels } from "../models/configured-models.ts";
import { keepLearned } from "../models/knowledge/learned-models.ts";
import { ProviderSet } from "../models/routes/provider-set.ts";
import { estimatePromptTokens } from "../turns/context/tokens.ts";
import type { AppContext } from "./context.ts";

/** The providers of the configuration, which follow its changes. */
export function openProviderSet(context: AppContext, stack: AsyncDisposableStack): ProviderSet {
  const { live, adapters, store, logger, clock } = context;
  const providers = stack.use(
    new ProviderSet(
      {
        open: (name, settings, silenceMs) =>
          openLateProvider(name, settings, { silenceMs, definitions: adapters.providers }),
        onFault: (error) => logger.warn({ err: toError(error) }, "a model provider could not be closed cleanly"),
        now: () => clock.monotonic(),
      },
      live.current.models,
    ),
  );
  live.onChange(() => providers.configure(live.current.models));
  keepLearned({ live, store, clock, logger }, stack, providers.calibration);
  return providers;
}

/** Model calls for all parts. */
export function createConfiguredModels(context: AppContext, providers: ProviderSet): ConfiguredModels {
  const { live, store, blobs, clock, logger, publish } = context;
  return new ConfiguredModels({
    live,
    providers,
    usage: store.usage,
    readImage: (sha256) => blobs.read(sha256),
    estimateTokens: estimatePromptTokens,
    clock,
    random: Math.random,
    wait: sleep,
    logger,
    publish,
  });
}
