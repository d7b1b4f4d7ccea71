import { maxSteps, networkOf, writersOfShared, sessionVisibilityOf, timezoneOf } from "../../config/groups.ts";
import { heartbeatOf } from "../../config/heartbeat.ts";
import { agentNameOf, agentOf } from "../../config/agents.ts";
import { policyOf } from "../../config/policy.ts";
import type { Config } from "../../config/schema/config.ts";
import { LocalTime } from "../../turns/context/time-zone.ts";
import { estimatePromptTokens } from "../../turns/context/tokens.ts";
import { callsTools } from "../../models/knowledge/capabilities.ts";
import { createModelCalls, type ModelCalls, type ModelCallsOptions } from "../../models/model-calls.ts";
import { ProviderSet } from "../../models/routes/provider-set.ts";
import { openLateProvider } from "../../models/catalog.ts";
import { sleep } from "../../lib/time/sleep.ts";
import { toError } from "../../lib/app-error.ts";
import { mainAgent } from "../../domain/turns/session.ts";
import type { TurnOptions } from "../../turns/turn-options.ts";
import { jobLimits } from "../capabilities/jobs.ts";
import { skillsOfAgent } from "../capabilities/skill-narrowing.ts";
import type { AppContext } from "../context.ts";
import { keepLearned } from "./learned-models.ts";

/** The providers of the configuration, which follow its changes. */
export function openProviderSet(context: AppContext, stack: AsyncDisposableStack): ProviderSet {
  const { live, adapters, logger, clock } = context;
  const providers = stack.use(
    new ProviderSet(
      {
        open: (name, settings, silenceMs) =>
          openLateProvider(name, settings, { silenceMs, definitions: adapters.providers }),
        onFault: (error) => logger.warn({ err: toError(error) }, "a model provider could not be closed in good order"),
        now: () => clock.monotonic(),
      },
      live.current.models,
    ),
  );
  live.onChange(() => providers.configure(live.current.models));
  keepLearned(context, stack, providers.calibration);
  return providers;
}

/** What turns get that begin now. */
export function createTurnSettings(context: AppContext, providers: ProviderSet): TurnOptions["settings"] {
  const timeZone = rememberSome((zone) => new LocalTime(zone));
  return ({ agent = mainAgent, name }) => {
    const config = context.live.current;
    const held = providers.hold();
    const { sessions } = config;
    const models = createModels(context, config, {
      providers: held.byName,
      breakers: providers.breakers,
      calibration: providers.calibration,
    });
    return {
      agentName: agentNameOf(config, agent),
      agentInstructions: agentOf(config, agent)?.instructions,
      skillNames: skillsOfAgent(config, { agent }),
      timeZone: timeZone(timezoneOf(config, name)),
      models,
      groupFor: (group, kind) => {
        const route = kind === "heartbeat" ? heartbeatOf(config, group.name)?.route : undefined;
        return route === undefined ? group : { ...group, model: route };
      },
      callsTools: (route) => callsTools(config.models, route),
      windowTokens: (route) => models.windowTokens(route),
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

/** More zones than hosts have; where there are more, all are made anew now and then. */
const remembered = 32;

/** Makes something anew only when it is asked for a key that it does not know. */
function rememberSome<T>(make: (key: string) => T): (key: string) => T {
  const known = new Map<string, T>();
  return (key) => {
    const made = known.get(key) ?? make(key);
    if (!known.has(key) && known.size >= remembered) known.clear();
    known.set(key, made);
    return made;
  };
}

function createModels(
  { store, blobs, clock, logger, publish }: AppContext,
  { models, budgets }: Config,
  { providers, breakers, calibration }: Pick<ModelCallsOptions, "providers" | "breakers" | "calibration">,
): ModelCalls {
  return createModelCalls({
    models,
    budgets,
    providers,
    breakers,
    calibration,
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
