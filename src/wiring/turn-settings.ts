import { maxSteps, networkOf, writersOfShared, sessionVisibilityOf } from "../config/groups.ts";
import { heartbeatOf } from "../config/heartbeat.ts";
import { agentNameOf, agentOf } from "../config/agents.ts";
import { policyOf } from "../config/policy.ts";
import type { Config } from "../config/schema/config.ts";
import { LocalTime } from "../context/time-zone.ts";
import { estimatePromptTokens } from "../context/tokens.ts";
import { callsTools } from "../models/capabilities.ts";
import { createModelCalls, type ModelCalls } from "../models/model-calls.ts";
import type { Provider } from "../models/provider.ts";
import { ProviderSet } from "../models/provider-set.ts";
import { openLateProvider } from "../models/catalog.ts";
import { sleep } from "../lib/time/sleep.ts";
import { toError } from "../lib/app-error.ts";
import { mainAgent } from "../domain/session.ts";
import type { TurnOptions } from "../turns/turn-options.ts";
import { jobLimits } from "./jobs.ts";
import type { AppContext } from "./context.ts";

/** The providers of the configuration, which follow its changes. */
export function openProviderSet({ live, adapters, logger }: AppContext, stack: AsyncDisposableStack): ProviderSet {
  const providers = stack.use(
    new ProviderSet(
      {
        open: (name, settings, silenceMs) =>
          openLateProvider(name, settings, { silenceMs, definitions: adapters.providers }),
        onFault: (error) => logger.warn({ err: toError(error) }, "a model provider could not be closed in good order"),
      },
      live.current.models,
    ),
  );
  live.onChange(() => providers.configure(live.current.models));
  return providers;
}

/** What turns get that begin now. */
export function createTurnSettings(context: AppContext, providers: ProviderSet): TurnOptions["settings"] {
  const timeZone = rememberLast((zone) => new LocalTime(zone));
  return ({ agent = mainAgent }) => {
    const config = context.live.current;
    const held = providers.hold();
    const { sessions } = config;
    return {
      agentName: agentNameOf(config, agent),
      agentInstructions: agentOf(config, agent)?.instructions,
      timeZone: timeZone(config.timezone),
      models: createModels(context, config, held.byName),
      groupFor: (group, kind) => {
        const route = kind === "heartbeat" ? heartbeatOf(config, group.name)?.route : undefined;
        return route === undefined ? group : { ...group, model: route };
      },
      callsTools: (route) => callsTools(config.models, route),
      networkFor: (group) => networkOf(config, group.name).allow,
      sessionVisibility: (group) => sessionVisibilityOf(config, group),
      policyFor: (group) => policyOf(config, group.name, group.agent),
      writersOfShared: (group) => writersOfShared(config, group.name),
      maxSteps: (group) => maxSteps(config, group.name),
      jobLimits: () => jobLimits(config),
      turnTimeoutMs: sessions.turnTimeoutMinutes * 60_000,
      holdMs: sessions.holdMinutes * 60_000,
      silenceTimeoutMs: sessions.silenceTimeoutSeconds * 1000,
      [Symbol.dispose]: () => held[Symbol.dispose](),
    };
  };
}

/** Makes something anew only when it is asked for another key than the last time. */
function rememberLast<T>(make: (key: string) => T): (key: string) => T {
  let last: { readonly key: string; readonly made: T } | undefined;
  return (key) => {
    if (last?.key !== key) last = { key, made: make(key) };
    return last.made;
  };
}

function createModels(
  { store, blobs, clock, logger, publish }: AppContext,
  { models, budgets }: Config,
  providers: ReadonlyMap<string, Provider>,
): ModelCalls {
  return createModelCalls({
    models,
    budgets,
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
