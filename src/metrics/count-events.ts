import type { EventType, HostEvent } from "../events/event.ts";
import type { TurnPhase } from "../domain/turn.ts";
import type { Metrics } from "./metrics.ts";

/** Counts what events tell of. */
export function countEvents(metrics: Metrics): (event: HostEvent) => void {
  const countDelivery = ({ data }: HostEvent<"delivery.accepted" | "delivery.confirmed" | "delivery.failed">): void =>
    metrics.delivery(data.channel, data.outcome);
  const counts: { readonly [Type in EventType]?: (event: HostEvent<Type>) => void } = {
    "turn.ended": ({ data: { state, elapsedMs, times } }) => {
      metrics.turnEnded(state, elapsedMs);
      for (const [phase, ms] of Object.entries(times)) metrics.turnPhase(phase as TurnPhase, ms);
    },
    "agent.ended": ({ data: { state } }) => metrics.subAgentEnded(state),
    "model.responded": ({ data: { model, outcome, elapsedMs, usage } }) => {
      metrics.modelCall(model, outcome, elapsedMs);
      if (usage) metrics.modelUsage(model, usage);
    },
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
    "skill.refused": () => metrics.skill("refused"),
    "skill.loaded": () => metrics.skill("loaded"),
    "skill.changed": () => metrics.skill("changed"),
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
    "heartbeat.begun": () => metrics.heartbeat("begun"),
    "heartbeat.skipped": ({ data: { reason } }) => metrics.heartbeat(reason),
    "job.started": () => metrics.job("started"),
    "job.ended": ({ data: { state } }) => metrics.job(state),
    "egress.judged": ({ data: { verdict, bytesUp = 0, bytesDown = 0 } }) =>
      metrics.egress(verdict, { up: bytesUp, down: bytesDown }),
  };
  return (event) => (counts[event.type] as ((event: HostEvent) => void) | undefined)?.(event);
}
