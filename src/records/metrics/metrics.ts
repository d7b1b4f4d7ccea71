import { Counter, Gauge, Histogram, type Registry } from "prom-client";

import { type ChannelState, channelStates, type Receipt } from "../../channels/channel.ts";
import type { OutboxState } from "../../domain/chats/message.ts";
import type { ModelUsage } from "../../domain/turns/model.ts";
import type { TurnPhase, TurnState } from "../../domain/turns/turn.ts";
import { countWeb, type WebCounter } from "./count-web.ts";
import { countOutcomes, type OutcomeCounters } from "./outcome-counters.ts";

/** Counters updated as things happen. */
export interface Metrics extends OutcomeCounters {
  /** A channel handed over a message and was told this. */
  messageIn(channel: string, receipt: Receipt): void;
  turnEnded(state: Exclude<TurnState, "running">, elapsedMs: number): void;
  /** Time of a turn in one phase; `send` counts per reply. */
  turnPhase(phase: TurnPhase, ms: number): void;
  /** A sub-agent has ended. */
  subAgentEnded(state: string): void;
  /** `outcome`: `answered`, or the kind of failure. */
  modelCall(model: string, outcome: string, elapsedMs: number): void;
  modelUsage(model: string, usage: ModelUsage): void;
  /** The prompts of a session are hardly read from the vendor's cache. */
  cacheMissed(model: string): void;
  /** Outcome of a delivery attempt. */
  delivery(channel: string, outcome: string): void;
  web: WebCounter;
  /** A decision about a way out, or the end of one with the bytes that it carried. */
  egress(verdict: string, bytes: { readonly up: number; readonly down: number }): void;
}

/** Values looked up on each query. */
export interface GaugeSources {
  readonly intakeOpen: () => boolean;
  readonly containersHot: () => number;
  readonly groupsWaiting: () => number;
  readonly outbox: () => Promise<Readonly<Record<OutboxState, number>>>;
  /** Tool calls that wait for people's answers. */
  readonly approvals: () => Promise<number>;
  /** Background jobs that run. */
  readonly jobs: () => number;
  readonly channels: () => readonly { readonly name: string; state(): ChannelState }[];
}

const turnSeconds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800];
const phaseSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600];
const modelSeconds = [0.05, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Registers what is counted. No label holds a group, a chat or a person: their number has no bound. */
export function createMetrics(registry: Registry): Metrics {
  const registers = [registry];
  addGauge(registers, {
    name: "crabpot_heap_used_bytes",
    help: "Memory of the host's objects, including garbage not collected yet",
    read: () => process.memoryUsage().heapUsed,
  });
  const messages = new Counter({
    name: "crabpot_messages_in_total",
    help: "Messages that channels handed over, by outcome",
    labelNames: ["channel", "outcome"],
    registers,
  });
  const refused = new Counter({
    name: "crabpot_messages_refused_total",
    help: "Rejected messages, by reason",
    labelNames: ["channel", "reason"],
    registers,
  });
  const turns = new Histogram({
    name: "crabpot_turn_duration_seconds",
    help: "From the first message of a turn to its end, by state",
    labelNames: ["state"],
    buckets: turnSeconds,
    registers,
  });
  return {
    ...countOutcomes(registers),
    delivery: countDeliveries(registers),
    messageIn: (channel, receipt) => {
      messages.inc({ channel, outcome: outcomeOf(receipt) });
      if (receipt.outcome === "refused") refused.inc({ channel, reason: receipt.code ?? "other" });
    },
    turnPhase: timePhases(registers),
    turnEnded: (state, elapsedMs) => turns.observe({ state }, elapsedMs / 1000),
    ...countModelCalls(registers),
    egress: countEgress(registers),
    web: countWeb(registers),
    subAgentEnded: countSubAgents(registers),
  };
}

function countModelCalls(registers: Registry[]): Pick<Metrics, "modelCall" | "modelUsage" | "cacheMissed"> {
  const calls = new Histogram({
    name: "crabpot_model_call_duration_seconds",
    help: "Model calls, by outcome",
    labelNames: ["model", "outcome"],
    buckets: modelSeconds,
    registers,
  });
  const tokens = new Counter({
    name: "crabpot_model_tokens_total",
    help: "Tokens as the providers counted them; those read from or written to a prompt cache are parts of the input",
    labelNames: ["model", "kind"],
    registers,
  });
  const missed = new Counter({
    name: "crabpot_cache_missed_total",
    help: "Sessions whose prompts were hardly read from a prompt cache over 20 turns",
    labelNames: ["model"],
    registers,
  });
  return {
    cacheMissed: (model) => missed.inc({ model }),
    modelCall: (model, outcome, elapsedMs) => calls.observe({ model, outcome }, elapsedMs / 1000),
    modelUsage: (model, usage) => {
      tokens.inc({ model, kind: "input" }, usage.inputTokens);
      tokens.inc({ model, kind: "cached-input" }, usage.cachedInputTokens);
      tokens.inc({ model, kind: "written-input" }, usage.writtenInputTokens ?? 0);
      tokens.inc({ model, kind: "output" }, usage.outputTokens);
    },
  };
}

function countDeliveries(registers: Registry[]): Metrics["delivery"] {
  const deliveries = new Counter({
    name: "crabpot_deliveries_total",
    help: "Attempts to deliver a message, by outcome",
    labelNames: ["channel", "outcome"],
    registers,
  });
  return (channel, outcome) => deliveries.inc({ channel, outcome });
}

function timePhases(registers: Registry[]): Metrics["turnPhase"] {
  const phases = new Histogram({
    name: "crabpot_turn_phase_seconds",
    help: "Where a turn's time goes: queue, container, context, model, tools, mailbox, send",
    labelNames: ["phase"],
    buckets: phaseSeconds,
    registers,
  });
  return (phase, ms) => phases.observe({ phase }, ms / 1000);
}

function countSubAgents(registers: Registry[]): Metrics["subAgentEnded"] {
  const ended = new Counter({
    name: "crabpot_sub_agents_total",
    help: "Sub-agents that have ended, by state",
    labelNames: ["state"],
    registers,
  });
  return (state) => ended.inc({ state });
}

function countEgress(registers: Registry[]): Metrics["egress"] {
  const requests = new Counter({
    name: "crabpot_egress_total",
    help: "Requests of agents to get out, by verdict; each tunnel that was open is counted as closed once more",
    labelNames: ["verdict"],
    registers,
  });
  const bytes = new Counter({
    name: "crabpot_egress_bytes_total",
    help: "Bytes that tunnels of agents carried",
    labelNames: ["direction"],
    registers,
  });
  return (verdict, { up, down }) => {
    requests.inc({ verdict });
    bytes.inc({ direction: "up" }, up);
    bytes.inc({ direction: "down" }, down);
  };
}

/** Registers what is looked up. */
export function addGauges(registry: Registry, sources: GaugeSources): void {
  const registers = [registry];
  addChannelGauge(registers, sources);
  const gauge = (name: string, help: string, read: () => number | Promise<number>): void =>
    addGauge(registers, { name, help, read });
  gauge("crabpot_approvals_open", "Tool calls that wait for people's answers", sources.approvals);
  gauge("crabpot_jobs_running", "Background jobs of agents that run", sources.jobs);
  gauge("crabpot_intake_open", "1 while messages are accepted, 0 while they are not", () =>
    sources.intakeOpen() ? 1 : 0,
  );
  gauge("crabpot_containers_hot", "Containers that are kept ready", sources.containersHot);
  gauge("crabpot_queue_groups_waiting", "Groups waiting for their turn", sources.groupsWaiting);
  void new Gauge({
    name: "crabpot_outbox_messages",
    help: "Messages in the outbox, by state",
    labelNames: ["state"],
    registers,
    async collect() {
      for (const [state, count] of Object.entries(await sources.outbox())) this.set({ state }, count);
    },
  });
}

function addChannelGauge(registers: Registry[], { channels }: GaugeSources): void {
  void new Gauge({
    name: "crabpot_channel_state",
    help: "1 for the state that a channel is in, 0 for the others",
    labelNames: ["channel", "state"],
    registers,
    collect() {
      for (const channel of channels()) {
        const current = channel.state().state;
        for (const state of channelStates) this.set({ channel: channel.name, state }, state === current ? 1 : 0);
      }
    },
  });
}

function addGauge(
  registers: Registry[],
  { name, help, read }: { readonly name: string; readonly help: string; readonly read: () => number | Promise<number> },
): void {
  void new Gauge({
    name,
    help,
    registers,
    async collect() {
      this.set(await read());
    },
  });
}

function outcomeOf(receipt: Receipt): string {
  if (receipt.outcome === "stored") return receipt.duplicate ? "duplicate" : "stored";
  return receipt.outcome;
}
