import type { ChannelState, LoginEvent, LoginOptions } from "../channels/channel.ts";
import type { ConfigDifferences, ConfigState, ReloadReport } from "../domain/config-state.ts";
import type { Group, GroupChat, GroupFolder } from "../domain/group.ts";
import type { Publish } from "../domain/events/event.ts";
import { readEvents } from "../records/events/read-events.ts";
import type { ErasureView } from "../domain/erasure.ts";
import type { MemberId } from "../domain/person.ts";
import type { NextHeartbeat } from "../domain/heartbeat.ts";
import type { RefusedMount } from "../domain/mount.ts";
import { type Origin, origins } from "../domain/origin.ts";
import type { HotContainerView } from "../domain/session.ts";
import type { Turn } from "../domain/turn.ts";
import { AppError } from "../lib/app-error.ts";
import type { Clock } from "../lib/time/clock.ts";
import { utcDay } from "../lib/time/utc-day.ts";
import type { Store } from "../stores/store.ts";
import { answerApproval, type ApprovalOperationOptions, revokeApproval } from "./approvals/approvals.ts";
import type { McpOperations } from "./mcp/mcp-view.ts";
import { createImageOperations, type ImageOperationOptions, listUnready } from "./images/images.ts";
import { type JobOperationOptions, stopJob } from "./jobs/jobs.ts";
import { retryOutbox, send } from "./outbox.ts";
import { forgetModels, type ModelOperationOptions } from "./models.ts";
import { createReadings, findTurn, type ReadingOptions } from "./readings.ts";
import { requireGroup } from "./require-group.ts";
import { parsePerson } from "./people.ts";
import { parkedTurns } from "./turns/parked-turns.ts";
import {
  type RequestAnswers,
  approvePairing,
  approveRequest,
  denyRequest,
  forgetRequest,
  listPairings,
} from "./requests.ts";
import { resolveId } from "./resolve-id.ts";
import { listWaiting } from "./waiting.ts";
import { listWebhooks, testWebhook, type WebhookOperationOptions } from "./webhooks/webhooks.ts";
import { actOnTask, addTask, type TaskDesk } from "./tasks/tasks.ts";
import { cancelSubAgent, type SubAgentOperationOptions } from "./sub-agents/sub-agents.ts";
import { addWork, dropWork } from "./work.ts";
import type { ChannelView, EngineView, HostStatus, NewGroup, Operations } from "./operations.ts";
import { ownCommand } from "../lib/process/own-command.ts";

/** A channel as the operator's commands need it. `login` is there only where an account has to be linked. */
export interface OperableChannel {
  readonly name: string;
  state(): ChannelState;
  login?(signal: AbortSignal, loginOptions?: LoginOptions): AsyncIterable<LoginEvent>;
}

/** What the operations are made of: each is the smallest piece of the part that does the work. */
export interface OperationOptions {
  /** What is the same for the life of the process. */
  readonly host: Pick<HostStatus, "version" | "instance" | "home" | "pid" | "startedAt" | "assistant" | "models"> & {
    readonly maxHot: number | undefined;
  };
  readonly store: ReadingOptions["store"] & {
    readonly requests: Pick<Store["requests"], "waiting" | "get" | "settle" | "forget" | "pairings">;
    readonly sessions: Pick<Store["sessions"], "open">;
    readonly work: Pick<Store["work"], "add" | "drop" | "get" | "idsBeginningWith">;
    readonly jobs: Pick<Store["jobs"], "running">;
    readonly tasks: Pick<Store["tasks"], "counts">;
    readonly turns: { running(): Promise<Turn[]> };
    readonly outbox: Pick<Store["outbox"], "add" | "counts" | "get">;
    readonly origins: Pick<Store["origins"], "clearFolder">;
    readonly usage: Pick<Store["usage"], "ofDay">;
    readonly approvals: Pick<Store["approvals"], "open" | "revoke">;
    readonly events: Pick<Store["events"], "after" | "before">;
  };
  /** They reject with `conflict` for groups of the configuration and for names or chats that are taken, with `not_found` for unknown names. */
  readonly groups: {
    list(): readonly Group[];
    folders(): Promise<readonly GroupFolder[]>;
    add(
      group: GroupChat & Pick<Group, "trigger" | "main" | "model">,
      options: { readonly adopt: boolean },
    ): Promise<Group>;
    remove(name: string): Promise<GroupChat>;
  };
  readonly routes: readonly string[];
  readonly viewContext: ReadingOptions["viewContext"];
  readonly costOf: ReadingOptions["costOf"];
  readonly models: ReadingOptions["models"];
  readonly forgetLearned: ModelOperationOptions["forgetLearned"];
  readonly people: ReadingOptions["people"];
  readonly eraser: {
    look(who: MemberId): Promise<ErasureView>;
    erase(who: MemberId, actor: "operator"): Promise<ErasureView>;
  };
  /** What all groups together may spend in a day. */
  readonly totalUsdPerDay: number | undefined;
  readonly pool: { list(): HotContainerView[]; stop(session: string, reason: string): Promise<boolean> };
  /** Puts messages back in line. Rejects with `conflict` for one that is on its way. */
  readonly outbox: { retry(seqs: readonly number[]): Promise<number[]>; wake(): void };
  readonly admissions: RequestAnswers;
  readonly taskDesk: TaskDesk;
  readonly approvalDesk: ApprovalOperationOptions["approvalDesk"];
  /** Installed ones, with the reason of those that are not used. */
  readonly plugins?: () => readonly { readonly name: string; readonly reason: string | undefined }[];
  readonly nextHeartbeat: () => NextHeartbeat | undefined;
  readonly outdatedSkills: () => Promise<readonly string[]>;
  readonly webhooks: WebhookOperationOptions["webhooks"];
  readonly jobs: JobOperationOptions["jobs"];
  readonly subAgentDesk: SubAgentOperationOptions["subAgentDesk"];
  readonly channels: readonly OperableChannel[];
  /** Is the channel of this name configured, also if it does not run because nobody sits at it? */
  readonly isConfigured: (channel: string) => boolean;
  /** Why the channel cannot have such a chat, as the end of a sentence that begins with the chat. */
  readonly chatFault: (channel: string, chat: string) => string | undefined;
  readonly engine: () => Promise<EngineView>;
  readonly waitingGroups: () => number;
  readonly refusedMounts: () => readonly RefusedMount[];
  readonly images: ImageOperationOptions["images"];
  readonly intake: () => HostStatus["intake"];
  readonly config: {
    state(): ConfigState;
    reload(): Promise<ReloadReport>;
    diff(): Promise<ConfigDifferences>;
  };
  readonly settings: Pick<Operations, "getSetting" | "editConfig" | "showGroup" | "setGroup">;
  readonly mcp: McpOperations;
  /** Makes the host stop in good order. */
  readonly stop: () => void;
  /** Puts the messages of a turn back in line and wakes its group. Returns how many. */
  readonly requeue: (turn: Turn) => Promise<number>;
  readonly workAdded: () => void;
  readonly publish: Publish<"origins.cleared">;
  /** Resolves when the next event has been stored, or at the signal. */
  readonly nextEvent: (signal: AbortSignal) => Promise<void>;
  readonly watchDeltas: Operations["watchDeltas"];
  readonly clock: Clock;
  /** For codes that are over some day: never goes back. */
  readonly forwardClock: Pick<Clock, "now">;
}

export function createOperations(options: OperationOptions): Operations {
  const groups = { ...options.groups, settings: () => options.groups.list() };
  return {
    ...createReadings({ ...options, groups }),
    ...options.settings,
    ...options.mcp,
    ...createImageOperations(options),
    status: () => status(options),
    applyConfig: () => options.config.reload(),
    diffConfig: () => options.config.diff(),
    stop: async (answered) => {
      const { length: runningTurns } = await options.store.turns.running();
      answered.addEventListener("abort", () => options.stop(), { once: true });
      return { pid: options.host.pid, runningTurns };
    },
    addGroup: (group) => addGroup(options, group),
    removeGroup: (name) => removeGroup(options, name),
    clearFolderOrigins: (name, origin) => clearFolderOrigins(options, name, origin),
    approveRequest: (code, name) => approveRequest(options, code, name),
    approvePairing: (code, name) => approvePairing(options, code, name),
    listPairings: () => listPairings(options),
    lookAtPerson: async (id) => options.eraser.look(parsePerson(id)),
    erasePerson: async (id) => options.eraser.erase(parsePerson(id), "operator"),
    denyRequest: (code) => denyRequest(options, code),
    forgetRequest: (code) => forgetRequest(options, code),
    stopSession: (target) => stopSession(options, target),
    retryTurn: (id) => retryTurn(options, id),
    send: async (name, text) => send(options, requireGroup(options.groups.list(), name), text),
    retryOutbox: (what) => retryOutbox(options, what),
    addTask: (task) => addTask(options, task),
    actOnTask: (id, action) => actOnTask(options, id, action),
    addWork: (work) => addWork(options, work),
    dropWork: (id) => dropWork(options, id),
    listWebhooks: () => Promise.resolve(listWebhooks(options)),
    testWebhook: (name, body) => testWebhook(options, name, body),
    stopJob: (id, session) => stopJob(options, id, session),
    forgetModels: (name) => forgetModels(options, name),
    answerApproval: (code, answer) => answerApproval(options, code, answer),
    revokeApproval: (id) => revokeApproval(options, id),
    cancelSubAgent: (id) => cancelSubAgent(options, id),
    listChannels: () => Promise.resolve(options.channels.map(viewChannel)),
    tailEvents: (query, follow) =>
      readEvents(options.store.events, query, follow && { next: options.nextEvent, signal: follow }),
    watchDeltas: options.watchDeltas,
    login: (name, signal, loginOptions) => login(options, name, signal, loginOptions),
  };
}

async function status(options: OperationOptions): Promise<HostStatus> {
  const { host, store, clock } = options;
  const today = utcDay(clock.now());
  const [running, waiting, outbox, usage, engine, requests, approvals, tasks, outdatedSkills] = await Promise.all([
    store.turns.running(),
    listWaiting(options),
    store.outbox.counts(),
    store.usage.ofDay(today),
    options.engine(),
    store.requests.waiting(options.forwardClock.now()),
    store.approvals.open(),
    store.tasks.counts(),
    options.outdatedSkills(),
  ]);
  const hot = options.pool.list();
  const { maxHot, ...facts } = host;
  return {
    ...facts,
    uptimeSeconds: Math.round((clock.now() - host.startedAt) / 1000),
    intake: options.intake(),
    config: options.config.state(),
    engine,
    channels: options.channels.map(viewChannel),
    groups: options.groups.list().length,
    refusedMounts: options.refusedMounts(),
    images: listUnready(options.images),
    requests,
    approvals: approvals.length,
    idlePlugins: (options.plugins?.() ?? []).flatMap(({ name, reason }) =>
      reason === undefined ? [] : [{ name, reason }],
    ),
    nextHeartbeat: options.nextHeartbeat() ?? null,
    hooksWithoutGroup: listWebhooks(options).flatMap(({ name, hasGroup }) => (hasGroup ? [] : [name])),
    outdatedSkills,
    tasks,
    containers: {
      hot: hot.length,
      busy: hot.filter((container) => container.state === "busy").length,
      max: maxHot ?? null,
    },
    turns: { running: running.length, waitingGroups: options.waitingGroups(), parked: parkedTurns(approvals) },
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
      usdPerDay: options.totalUsdPerDay ?? null,
    },
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function viewChannel(channel: OperableChannel): ChannelView {
  return { name: channel.name, ...channel.state() };
}

async function addGroup(options: OperationOptions, wanted: NewGroup): Promise<Group> {
  if (!options.isConfigured(wanted.channel)) findChannel(options, wanted.channel);
  const fault = options.chatFault(wanted.channel, wanted.chat);
  if (fault !== undefined) throw new AppError("bad_input", `"${wanted.chat}" ${fault}.`);
  if (wanted.model !== undefined && !options.routes.includes(wanted.model)) {
    throw new AppError("bad_input", `There is no route "${wanted.model}"; there are: ${options.routes.join(", ")}.`);
  }
  const { name, channel, chat, trigger = "mention", main = false, model, adopt = false } = wanted;
  return options.groups.add({ name, channel, chat, trigger, main, model }, { adopt });
}

async function removeGroup(options: OperationOptions, name: string): Promise<void> {
  await options.groups.remove(name);
  for (const session of await options.store.sessions.list()) {
    if (session.group === name) await options.pool.stop(session.id, "its group was removed");
  }
}

async function clearFolderOrigins(
  { groups, store, publish }: OperationOptions,
  name: string,
  given: string | undefined,
): Promise<readonly Origin[]> {
  const origin = origins.find((known) => known === given);
  if (given !== undefined && origin === undefined)
    throw new AppError("bad_input", `There is no origin "${given}"; there are: ${origins.join(", ")}.`);
  const group = requireGroup(groups.list(), name).name;
  const carried = (await store.origins.ofFolder(group)).map((one) => one.origin);
  const cleared = carried.filter((one) => origin === undefined || one === origin);
  if (cleared.length > 0)
    await publish({ type: "origins.cleared", group, actor: "operator", data: { origins: cleared } });
  return store.origins.clearFolder(group, origin);
}

async function stopSession(options: OperationOptions, target: string): Promise<readonly string[]> {
  const sessions = await options.store.sessions.list();
  let meant = sessions.filter((session) => [session.id, session.key, session.group].includes(target));
  if (meant.length === 0) {
    const id = await resolveId(target, {
      what: "session or group",
      list: ownCommand("sessions list"),
      beginningWith: async (prefix) => sessions.map((session) => session.id).filter((one) => one.startsWith(prefix)),
    });
    meant = sessions.filter((session) => session.id === id);
  }
  const names: string[] = [];
  for (const { id } of meant) {
    const container = options.pool.list().find((hot) => hot.session === id);
    if ((await options.pool.stop(id, "the operator stopped it")) && container) names.push(container.name);
  }
  return names;
}

async function retryTurn(options: OperationOptions, id: string): ReturnType<Operations["retryTurn"]> {
  const turn = await findTurn(options, id);
  if (turn.state !== "failed") {
    throw new AppError("conflict", `Turn ${turn.id} is ${turn.state}; only a failed one can be retried.`);
  }
  const group = requireGroup(options.groups.list(), turn.group);
  const messages = await options.store.messages.ofTurn(turn.id);
  if (messages.length > 0 && messages.every(({ pruned }) => pruned === true)) {
    throw new AppError("conflict", `The messages of turn ${turn.id} are no longer kept, so it cannot be retried.`);
  }
  const [message] = messages;
  if (message && (message.channel !== group.channel || message.chat !== group.chat)) {
    const whose = `the chat "${message.chat}" on channel ${message.channel}`;
    throw new AppError(
      "conflict",
      `Turn ${turn.id} belongs to ${whose}; the group "${group.name}" is another chat by now.`,
      { fix: "add that chat as a group, under another name, and ask there again" },
    );
  }
  return { turn: turn.id, requeued: await options.requeue(turn) };
}

async function* login(
  options: OperationOptions,
  name: string,
  signal: AbortSignal,
  loginOptions: LoginOptions = {},
): AsyncGenerator<LoginEvent> {
  const channel = findChannel(options, name);
  if (channel.login !== undefined) {
    yield* channel.login(signal, loginOptions);
    return;
  }
  yield { state: channel.state().state, detail: `The channel ${name} needs no login.` };
}

function findChannel(options: OperationOptions, name: string): OperableChannel {
  const channel = options.channels.find((candidate) => candidate.name === name);
  if (channel !== undefined) return channel;
  const names = options.channels.map((candidate) => candidate.name).join(", ") || "none";
  throw new AppError("not_found", `The channel "${name}" is not running; running: ${names}.`, {
    fix: "Channels are configured under `channels` in config.yaml.",
  });
}
