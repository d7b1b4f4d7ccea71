import { randomUUID } from "node:crypto";

import { estimatePromptTokens, estimateStepTokens } from "../context/tokens.ts";
import { createMessageIds } from "../context/message-ids.ts";
import { renderMessages } from "../context/render-messages.ts";
import { LocalTime } from "../context/time-zone.ts";
import { maxSteps, networkOf } from "../config/groups.ts";
import { callsTools } from "../models/capabilities.ts";
import { createModelCalls } from "../models/model-calls.ts";
import type { ModelCalls } from "../models/model-calls.ts";
import type { Provider } from "../models/provider.ts";
import { sleep } from "../lib/sleep.ts";
import type { TurnPace } from "../intake/turn-pace.ts";
import { ConversationTools } from "../tools/conversation-tools.ts";
import type { ConversationToolsParts } from "../tools/conversation-tools.ts";
import { createAskModel } from "../turns/ask-model.ts";
import { ConversationPrompts, type PromptSources } from "../turns/conversation-prompts.ts";
import { SessionLeases } from "../turns/session-leases.ts";
import { TurnRunner } from "../turns/turn-runner.ts";
import type { TurnParts } from "../turns/turn-parts.ts";
import type { Containers } from "./containers.ts";
import type { AppContext } from "./context.ts";

export function createTurns(
  context: AppContext,
  { launcher, pool, mounts, instructions }: Containers,
  {
    pace,
    tools,
    providers,
    ...work
  }: Pick<TurnParts, "deliver" | "workAdded" | "untilWritable" | "keepFile" | "formatReply" | "formatNotice"> & {
    readonly pace: TurnPace;
    readonly tools: Pick<ConversationToolsParts, "registry" | "channelCan">;
    readonly providers: ReadonlyMap<string, Provider>;
  },
): TurnRunner {
  const { config, store, clock, logger } = context;
  const agentName = config.assistant.name;
  const timeZone = new LocalTime(config.timezone);
  const idOf = createMessageIds(context.fingerprint);
  const toolsOf = createToolsOf(context, tools);
  const prompts = createPrompts(context, { launcher, instructions, timeZone, toolsOf });
  const leases = new SessionLeases({ leases: store.leases, owner: randomUUID(), clock, logger });
  return new TurnRunner({
    store,
    leases,
    pool,
    ask: createAskModel({
      store,
      models: createModels(context, providers),
      toolsOf,
      prompts,
    }),
    changeSince: (scope) => prompts.changeSince(scope),
    render: (messages, omitted) => renderMessages({ messages, omitted, agentName, timeZone, idOf }),
    estimateTokens: estimateStepTokens,
    toolsOf,
    maxSteps: (group) => maxSteps(config, group.name),
    ...work,
    publish: context.publish,
    fingerprint: context.fingerprint,
    began: ({ session, turn }, messages) => {
      mounts.turnBegins(session.id, turn.id);
      pace.began(turn, messages);
    },
    ended: ({ turn }) => pace.ended(turn),
    clock,
    logger,
    turnTimeoutMs: config.sessions.turnTimeoutMinutes * 60_000,
    holdMs: config.sessions.holdMinutes * 60_000,
    silenceTimeoutMs: config.sessions.silenceTimeoutSeconds * 1000,
  });
}

function createPrompts(
  context: AppContext,
  parts: Pick<PromptSources, "timeZone" | "toolsOf"> & Pick<Containers, "launcher" | "instructions">,
): ConversationPrompts {
  const { config, store, clock } = context;
  const { instructions } = parts;
  return new ConversationPrompts({
    sessions: store.sessions,
    sources: {
      agentName: config.assistant.name,
      timeZone: parts.timeZone,
      toolsOf: parts.toolsOf,
      instructionsOf: (group, session) => instructions.of(group.name, session.id),
      foldersOf: (group) => parts.launcher.foldersOf(group.name),
      chatOf: ({ channel, chat }) => store.chats.get(channel, chat),
      networkFor: (group) => networkOf(config, group.name).allow,
    },
    estimateTokens: estimateStepTokens,
    now: () => clock.now(),
  });
}

function createToolsOf(
  { config, store }: AppContext,
  parts: Pick<ConversationToolsParts, "registry" | "channelCan">,
): TurnParts["toolsOf"] {
  const callsToolsOn = (route: string | undefined): boolean => callsTools(config.models, route);
  const tools = new ConversationTools({ ...parts, sessions: store.sessions, callsTools: callsToolsOn });
  return ({ group, turn }) => tools.of(group, turn);
}

function createModels(
  { config, store, clock, logger, publish }: AppContext,
  providers: ReadonlyMap<string, Provider>,
): ModelCalls {
  return createModelCalls({
    models: config.models,
    budgets: config.budgets,
    providers,
    usage: store.usage,
    estimateTokens: estimatePromptTokens,
    clock,
    random: Math.random,
    wait: sleep,
    logger,
    publish,
  });
}
