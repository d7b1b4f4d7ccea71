import { join } from "node:path";

import { estimatePromptTokens, estimateStepTokens } from "../context/tokens.ts";
import { renderMessages } from "../context/render-messages.ts";
import { LocalTime } from "../context/time-zone.ts";
import { networkOf } from "../config/groups.ts";
import type { Group } from "../domain/group.ts";
import { HostileFolder } from "../lib/open-hostile-file.ts";
import { createModelGateway } from "../llm/gateway.ts";
import type { ModelGateway } from "../llm/gateway.ts";
import { openProviders } from "../llm/catalog.ts";
import { waitReally } from "../llm/retry.ts";
import { judgeToolCall } from "../policy/tool-policy.ts";
import { toolDefinitions } from "../protocol/tools.ts";
import { createAskModel } from "../sessions/ask-model.ts";
import { TurnRunner } from "../sessions/turn-runner.ts";
import type { TurnParts } from "../sessions/turn-parts.ts";
import type { Containers } from "./containers.ts";
import type { AppContext } from "./context.ts";
import { createTurnEvents } from "./events.ts";
import { createFormatReply } from "./replies.ts";

const instructionsBytes = 256 * 1024;

/** A session's key: `agent:channel:peer`. */
export function sessionKeyOf(assistantName: string): (group: Group) => string {
  return (group) => `${assistantName}:${group.channel}:${group.chat}`;
}

export function createTurns(
  context: AppContext,
  { launcher, pool, mounts }: Containers,
  work: Pick<TurnParts, "deliver" | "untilWritable" | "keepFile" | "canReact">,
): TurnRunner {
  const { config, store, clock, logger } = context;
  const agentName = config.assistant.name;
  const timeZone = new LocalTime(config.timezone);
  const events = createTurnEvents(context);
  const knownTools = new Set<string>(toolDefinitions.map((tool) => tool.name));
  return new TurnRunner({
    store,
    pool,
    ask: createAskModel({
      store,
      gateway: createGateway(context),
      tools: toolDefinitions,
      agentName,
      timeZone,
      instructionsOf: (group) => readInstructions(context, group.name),
      foldersOf: (group) => launcher.foldersOf(group.name),
      chatOf: ({ channel, chat }) => store.chats.get(channel, chat),
      networkFor: (group) => networkOf(config, group.name).allow,
    }),
    render: (messages, omitted) => renderMessages({ messages, omitted, agentName, timeZone }),
    estimateTokens: estimateStepTokens,
    judge: (group, call) => judgeToolCall(call, group.policy, knownTools),
    formatReply: createFormatReply(context),
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
    silenceTimeoutMs: config.sessions.silenceTimeoutSeconds * 1000,
    sessionKey: sessionKeyOf(agentName),
  });
}

function createGateway({ config, store, clock, logger, record, metrics }: AppContext): ModelGateway {
  return createModelGateway({
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

/** The group's AGENTS.md. Its agent can write there, so it is opened as what it is: a stranger's file. */
async function readInstructions({ home, logger, record }: AppContext, group: string): Promise<string> {
  const folder = join(home.paths.groups, group);
  await using opened = await HostileFolder.open(folder);
  const reading = await opened.readFile("AGENTS.md", { maxBytes: instructionsBytes });
  if (reading.ok) return new TextDecoder().decode(reading.bytes);
  const { reason } = reading;
  if (reason === "missing") return "";
  logger.warn({ folder, reason }, "AGENTS.md is not used");
  await record({ type: "file-refused", group, actor: "host", data: { file: "AGENTS.md", reason } });
  return "";
}
