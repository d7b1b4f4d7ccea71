import type { EventType, HostEvent } from "../../domain/events/event.ts";
import type { TurnPhase } from "../../domain/turns/turn.ts";
import type { Metrics } from "./metrics.ts";

type Counts = { readonly [Type in EventType]?: (event: HostEvent<Type>) => void };

/** Counts what events tell of. */
export function countEvents(metrics: Metrics): (event: HostEvent) => void {
  const countDelivery = ({ data }: HostEvent<"delivery.accepted" | "delivery.confirmed" | "delivery.failed">): void =>
    metrics.delivery(data.channel, data.outcome);
  const counts: Counts = {
    "turn.ended": ({ data: { state, elapsedMs, times } }) => {
      metrics.turnEnded(state, elapsedMs);
      for (const [phase, ms] of Object.entries(times)) metrics.turnPhase(phase as TurnPhase, ms);
    },
    "agent.ended": ({ data: { state } }) => metrics.subAgentEnded(state),
    "model.responded": ({ data: { model, outcome, elapsedMs, usage } }) => {
      metrics.modelCall(model, outcome, elapsedMs);
      if (usage) metrics.modelUsage(model, usage);
    },
    "cache.missed": ({ data: { model } }) => metrics.cacheMissed(model),
    "delivery.accepted": (event) => {
      countDelivery(event);
      metrics.turnPhase("send", Math.max(0, event.data.sinceMs));
    },
    "schedule.claimed": () => metrics.taskRun("claimed"),
    "schedule.missed": () => metrics.taskRun("missed"),
    "schedule.ended": ({ data: { state, retryAt } }) => metrics.taskRun(retryAt === undefined ? state : "retried"),
    "delivery.confirmed": countDelivery,
    "delivery.failed": countDelivery,
    "webhook.received": ({ data: { duplicate } }) => metrics.webhook(duplicate ? "duplicate" : "stored"),
    "webhook.refused": ({ data: { reason, untold } }) => metrics.webhook(reason, 1 + untold),
    ...countOthers(metrics),
    ...countMemories(metrics),
    "heartbeat.begun": () => metrics.heartbeat("begun"),
    "heartbeat.skipped": ({ data: { reason } }) => metrics.heartbeat(reason),
    "job.started": () => metrics.job("started"),
    "job.ended": ({ data: { state } }) => metrics.job(state),
    "web.answered": ({ data: { use, bytes } }) => metrics.web(use, "answered", bytes),
    "web.refused": ({ data: { use } }) => metrics.web(use, "refused", 0),
    "egress.judged": ({ data: { verdict, bytesUp = 0, bytesDown = 0 } }) =>
      metrics.egress(verdict, { up: bytesUp, down: bytesDown }),
  };
  return (event) => (counts[event.type] as ((event: HostEvent) => void) | undefined)?.(event);
}

/** Counts events by outcome alone. */
function countOthers(metrics: Metrics): Counts {
  return {
    "context.compacted": () => metrics.context("compacted"),
    "context.evicted": () => metrics.context("evicted"),
    "context.refused": () => metrics.context("refused"),
    "image.built": () => metrics.image("built"),
    "image.failed": () => metrics.image("failed"),
    "image.removed": () => metrics.image("removed"),
    "mcp.changed": () => metrics.mcp("changed"),
    "mcp.closed": () => metrics.mcp("closed"),
    "mcp.failed": () => metrics.mcp("failed"),
    "mcp.opened": () => metrics.mcp("opened"),
    "picture.described": () => metrics.picture("described"),
    "picture.kept": () => metrics.picture("kept"),
    "picture.refused": ({ data: { failure } }) => metrics.picture(failure),
    "plugin.ended": () => metrics.plugin("ended"),
    "plugin.refused": () => metrics.plugin("refused"),
    "skill.changed": () => metrics.skill("changed"),
    "skill.loaded": () => metrics.skill("loaded"),
    "skill.refused": () => metrics.skill("refused"),
    "voice.made": () => metrics.voice("made"),
    "voice.refused": () => metrics.voice("refused"),
    "watch.ended": ({ data: { reason } }) => metrics.watch(reason),
    "watch.opened": () => metrics.watch("opened"),
    "skills.synced": ({ data: { news, failed } }) => {
      for (const _ of news) metrics.skill("outdated");
      for (const _ of failed) metrics.skill("not compared");
    },
  };
}

function countMemories(metrics: Metrics): Counts {
  return {
    "memory.kept": ({ data: { count } }) => metrics.memory("kept", count),
    "memory.extracted": ({ data: { facts, refused } }) => {
      metrics.memory("extracted", facts);
      metrics.memory("refused", refused);
    },
    "memory.noted": ({ data: { isKept } }) => metrics.memory(isKept ? "noted" : "refused", 1),
    "memory.stored": () => metrics.memory("stored", 1),
    "memory.forgotten": ({ data: { ids } }) => metrics.memory("forgotten", ids.length),
    "memory.failed": () => metrics.memory("failed", 1),
    "memory.cleaned": ({ data: { categories, superseded } }) =>
      metrics.memory(
        "cleaned",
        Object.values(categories).reduce((sum, count) => sum + count, superseded),
      ),
  };
}
