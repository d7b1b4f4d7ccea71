import * as z from "zod";

import type { NextHeartbeat } from "../../domain/work/heartbeat.ts";
import type { Approval } from "../../domain/rights/approval.ts";
import { reviewOf } from "../../domain/rights/review.ts";
import type { RefusedMount } from "../../domain/sandbox/mount.ts";
import type { HotContainerView } from "../../domain/turns/session.ts";
import type { Turn } from "../../domain/turns/turn.ts";
import { toError } from "../../lib/app-error.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { utcDay } from "../../lib/time/utc-day.ts";
import type { ContainerEngine } from "../../sandbox/engine/engine.ts";
import type { Store } from "../../stores/contract/store.ts";
import { type ChannelNeeds, channelView, viewChannel } from "../channels/operations.ts";
import { defineOperation } from "../definition/define-operation.ts";
import { imageBuildView, type ImageNeeds, listUnready } from "../images/operations.ts";
import { list, nothing, time } from "../definition/schemas.ts";
import { configState, type SettingNeeds } from "../settings/operations.ts";
import { parkedTurns } from "../turns/parked-turns.ts";
import { listWaiting, type WaitingNeeds } from "../turns/waiting.ts";
import { viewWebhooks, type WebhookNeeds } from "./webhook-view.ts";

/** Time within which the container engine has to answer. */
const engineTimeoutMs = 5_000;

/** The state of a running host. */
const hostStatus = z.strictObject({
  version: z.string(),
  instance: z.string(),
  home: z.string(),
  pid: z.number(),
  startedAt: time,
  uptimeSeconds: z.number(),
  intake: z
    .strictObject({ open: z.boolean(), code: z.string().optional(), reason: z.string().optional() })
    .describe("Whether messages are taken in, and why not"),
  config: configState,
  assistant: z.string(),
  models: list(z.string()).describe("Of the default route, in the order in which they are tried"),
  engine: z.strictObject({ ok: z.boolean(), detail: z.string() }),
  channels: list(channelView),
  groups: z.number(),
  refusedMounts: list(
    z.strictObject({ group: z.string(), source: z.string(), target: z.string(), reason: z.string() }),
  ),
  images: list(imageBuildView).describe("Of groups whose packages are missing"),
  requests: z.number().describe("Chats that wait to be let in"),
  approvals: z.number().describe("Questions that wait for people, but for reviews"),
  reviews: list(
    z.strictObject({ group: z.string(), target: z.string(), code: z.string(), changes: z.number() }),
  ).describe("Folders with changes of agents that wait for people"),
  idlePlugins: list(z.strictObject({ name: z.string(), reason: z.string() })).describe("Installed and not used"),
  nextHeartbeat: z.strictObject({ group: z.string(), at: time }).nullable(),
  hooksWithoutGroup: list(z.string()),
  outdatedSkills: list(z.string()),
  tasks: z.strictObject({ active: z.number(), paused: z.number() }),
  containers: z.strictObject({
    hot: z.number(),
    busy: z.number(),
    max: z.number().nullable().describe("null: memory alone is the limit"),
  }),
  turns: z.strictObject({
    running: z.number(),
    waitingGroups: z.number(),
    parked: list(z.strictObject({ turn: z.string(), group: z.string(), waitsFor: list(z.string()) })).describe(
      "Running ones that wait for people, with the codes",
    ),
  }),
  waiting: list(z.strictObject({ group: z.string(), messages: z.number(), oldestAt: time })).describe(
    "Messages that no turn has taken, the group that has waited longest first",
  ),
  outbox: z.strictObject({ unsent: z.number(), uncertain: z.number(), dead: z.number() }),
  today: z
    .strictObject({ calls: z.number(), tokens: z.number(), usd: z.number(), usdPerDay: z.number().nullable() })
    .describe("Of the current day (UTC), all groups together"),
});

export type HostStatus = z.infer<typeof hostStatus>;

/** The parts that say how a host is doing. */
export interface StatusNeeds extends WaitingNeeds, ChannelNeeds, WebhookNeeds {
  /** Facts that stay the same for the life of the process. */
  readonly host: Pick<HostStatus, "version" | "instance" | "home" | "pid" | "startedAt" | "assistant" | "models"> & {
    readonly maxHot: number | undefined;
  };
  readonly store: WaitingNeeds["store"] & {
    readonly turns: { running(): Promise<Turn[]> };
    readonly outbox: Pick<Store["outbox"], "counts">;
    readonly usage: Pick<Store["usage"], "ofDay">;
    readonly requests: Pick<Store["requests"], "waiting">;
    readonly approvals: Pick<Store["approvals"], "open">;
    readonly tasks: Pick<Store["tasks"], "counts">;
  };
  readonly groups: WaitingNeeds["groups"] & WebhookNeeds["groups"];
  readonly pool: { list(): HotContainerView[] };
  readonly images: Pick<ImageNeeds["images"], "states">;
  readonly config: Pick<SettingNeeds["config"], "state">;
  readonly engine: Pick<ContainerEngine, "facts">;
  readonly waitingGroups: () => number;
  readonly refusedMounts: () => readonly RefusedMount[];
  readonly intake: () => HostStatus["intake"];
  /** All groups' limit together. */
  readonly totalUsdPerDay: number | undefined;
  /** Installed ones, with the reason of those that are not used. */
  readonly plugins: () => readonly { readonly name: string; readonly reason: string | undefined }[];
  readonly nextHeartbeat: () => NextHeartbeat | undefined;
  readonly outdatedSkills: () => Promise<readonly string[]>;
  readonly clock: Pick<Clock, "now">;
  readonly forwardClock: Pick<Clock, "now">;
}

async function viewEngine(engine: StatusNeeds["engine"]): Promise<HostStatus["engine"]> {
  try {
    const { kind, version, address } = await engine.facts(AbortSignal.timeout(engineTimeoutMs));
    return { ok: true, detail: `${kind} ${version} at ${address}` };
  } catch (error) {
    return { ok: false, detail: toError(error).message };
  }
}

/** The part that stops a host. */
export interface StopNeeds {
  readonly host: Pick<HostStatus, "pid">;
  readonly store: { readonly turns: { running(): Promise<Turn[]> } };
  /** Makes the host stop in good order. */
  readonly stop: () => void;
}

export const readStatus = defineOperation<StatusNeeds>()({
  name: "status",
  summary: "show how the running host is doing",
  input: nothing,
  output: hostStatus,
  may: { scope: "read" },
  effect: "none",
  rest: "GET /status",
  cli: {},
  run: async (needs) => viewStatus(needs),
});

/** The host begins to stop once the caller has the answer. */
export const stop = defineOperation<StopNeeds>()({
  name: "stop",
  summary: "stop the running host in good order",
  input: nothing,
  output: z.strictObject({
    pid: z.number().describe("The process that is going to end"),
    runningTurns: z.number().describe("Turns that are to end before"),
  }),
  may: { scope: "admin" },
  effect: "change",
  run: async (needs, _input, { signal }) => {
    const { length: runningTurns } = await needs.store.turns.running();
    signal.addEventListener("abort", () => needs.stop(), { once: true });
    return { pid: needs.host.pid, runningTurns };
  },
});

async function viewStatus(needs: StatusNeeds): Promise<HostStatus> {
  const { host, store, clock } = needs;
  const [running, waiting, outbox, usage, engine, requests, approvals, tasks, outdatedSkills] = await Promise.all([
    store.turns.running(),
    listWaiting(needs),
    store.outbox.counts(),
    store.usage.ofDay(utcDay(clock.now())),
    viewEngine(needs.engine),
    store.requests.waiting(needs.forwardClock.now()),
    store.approvals.open(),
    store.tasks.counts(),
    needs.outdatedSkills(),
  ]);
  const hot = needs.pool.list();
  const { maxHot, ...facts } = host;
  return {
    ...facts,
    uptimeSeconds: Math.round((clock.now() - host.startedAt) / 1000),
    intake: needs.intake(),
    config: needs.config.state(),
    engine,
    channels: needs.channels.map(viewChannel),
    groups: needs.groups.list().length,
    refusedMounts: needs.refusedMounts(),
    images: listUnready(needs.images),
    requests,
    approvals: approvals.filter(({ about }) => about !== "review").length,
    reviews: viewReviews(approvals),
    idlePlugins: needs.plugins().flatMap(({ name, reason }) => (reason === undefined ? [] : [{ name, reason }])),
    nextHeartbeat: needs.nextHeartbeat() ?? null,
    hooksWithoutGroup: viewWebhooks(needs).flatMap(({ name, hasGroup }) => (hasGroup ? [] : [name])),
    outdatedSkills,
    tasks,
    containers: {
      hot: hot.length,
      busy: hot.filter((container) => container.state === "busy").length,
      max: maxHot ?? null,
    },
    turns: { running: running.length, waitingGroups: needs.waitingGroups(), parked: parkedTurns(approvals) },
    waiting,
    outbox: {
      unsent: outbox.queued + outbox.sending + outbox.uncertain,
      uncertain: outbox.uncertain,
      dead: outbox.dead,
    },
    today: {
      calls: sum(usage.map((entry) => entry.calls)),
      tokens: sum(usage.map((entry) => entry.tokens)),
      usd: sum(usage.map((entry) => entry.usd)),
      usdPerDay: needs.totalUsdPerDay ?? null,
    },
  };
}

/** Folders in which something waits for people, as far as a card is open. */
function viewReviews(open: readonly Approval[]): HostStatus["reviews"] {
  return open.flatMap((approval) => {
    if (approval.about !== "review") return [];
    const { target, changes } = reviewOf(approval);
    return [{ group: approval.group, target, code: approval.code, changes: changes.length }];
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
