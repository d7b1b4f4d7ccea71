import { randomUUID } from "node:crypto";

import { estimatePromptTokens, estimateStepTokens } from "../context/tokens.ts";
import { createMessageIds } from "../context/message-ids.ts";
import { renderMessages } from "../context/render-messages.ts";
import { LocalTime } from "../context/time-zone.ts";
import { networkOf } from "../config/groups.ts";
import { createModelCalls } from "../models/model-calls.ts";
import type { ModelCalls } from "../models/model-calls.ts";
import { openProviders } from "../models/catalog.ts";
import { waitReally } from "../models/retry.ts";
import { judgeToolCall } from "../policy/tool-policy.ts";
import { toolDefinitions } from "../protocol/tools.ts";
import type { TurnPace } from "../intake/turn-pace.ts";
import { createAskModel } from "../turns/ask-model.ts";
import { SessionLeases } from "../turns/session-leases.ts";
import { TurnRunner } from "../turns/turn-runner.ts";
import type { TurnParts } from "../turns/turn-parts.ts";
import type { Containers } from "./containers.ts";
import type { AppContext } from "./context.ts";
import { createTurnEvents } from "./events.ts";

export function createTurns(
  context: AppContext,
  { launcher, pool, mounts, instructions }: Containers,
  {
    pace,
    ...work
  }: Pick<
    TurnParts,
    "deliver" | "workAdded" | "untilWritable" | "keepFile" | "canReact" | "formatReply" | "formatNotice"
  > & {
    readonly pace: TurnPace;
  },
): TurnRunner {
  const { config, store, clock, logger } = context;
  const agentName = config.assistant.name;
  const timeZone = new LocalTime(config.timezone);
  const idOf = createMessageIds(context.fingerprint);
  const events = createTurnEvents({ ...context, pace });
  const knownTools = new Set<string>(toolDefinitions.map((tool) => tool.name));
  const leases = new SessionLeases({ leases: store.leases, owner: randomUUID(), clock, logger });
  return new TurnRunner({
    store,
    leases,
    pool,
    ask: createAskModel({
      store,
      models: createModels(context),
      tools: toolDefinitions,
      agentName,
      timeZone,
      instructionsOf: (group, session) => instructions.of(group.name, session.id),
      foldersOf: (group) => launcher.foldersOf(group.name),
      chatOf: ({ channel, chat }) => store.chats.get(channel, chat),
      networkFor: (group) => networkOf(config, group.name).allow,
    }),
    render: (messages, omitted) => renderMessages({ messages, omitted, agentName, timeZone, idOf }),
    estimateTokens: estimateStepTokens,
    judge: (group, call) => judgeToolCall(call, group.policy, knownTools),
    ...work,
    events: {
      ...events,
      started: async (scope, messages, resumed) => {
        mounts.turnBegins(scope.session.id, scope.turn.id);
        await events.started(scope, messages, resumed);
      },
    },
    clock,
    logger,
    turnTimeoutMs: config.sessions.turnTimeoutMinutes * 60_000,
    holdMs: config.sessions.holdMinutes * 60_000,
    silenceTimeoutMs: config.sessions.silenceTimeoutSeconds * 1000,
  });
}

function createModels({ config, store, clock, logger, record, metrics }: AppContext): ModelCalls {
  return createModelCalls({
    models: config.models,
    budgets: config.budgets,
    providers: openProviders(config.models),
    usage: store.usage,
    estimateTokens: estimatePromptTokens,
    clock,
    random: Math.random,
    wait: waitReally,
    logger,
    audit: async ({ type, group, ...data }) => {
      if (type === "model-response" && "outcome" in data) {
        metrics.modelCall(data.model, data.outcome, data.elapsedMs);
        if (data.usage) metrics.modelUsage(data.model, data.usage);
      }
      await record({ type, group, actor: "host", data });
    },
  });
}
