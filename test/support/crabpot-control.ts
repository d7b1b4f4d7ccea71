import { AppError } from "../../src/lib/app-error.ts";
import { ApprovalService } from "../../src/rights/approvals/approval-service.ts";
import { join } from "node:path";

import pino from "pino";

import type { ChannelState } from "../../src/channels/channel.ts";
import { HostClient } from "../../src/surfaces/cli/host-client.ts";
import { builtInAdapters, chatFault } from "../../src/config/adapters.ts";
import { LiveConfig } from "../../src/config/changes/live-config.ts";
import { configuredGroups } from "../../src/config/configured/groups.ts";
import { configSchema } from "../../src/config/schema/config.ts";
import { Outbox } from "../../src/delivery/outbox.ts";
import type { HotContainerView } from "../../src/domain/turns/session.ts";
import { viewContext } from "../../src/turns/conversation/view-context.ts";
import type { OperationNeeds } from "../../src/surfaces/operations.ts";
import type { OperableChannel } from "../../src/operations/channels/operations.ts";
import { DeltaBus } from "../../src/records/events/deltas/delta-bus.ts";
import { EventBus } from "../../src/records/events/event-bus.ts";
import type { EventData, Publish } from "../../src/domain/events/event.ts";
import { startControlServer } from "../../src/surfaces/control/server.ts";
import type { LoginEvent } from "../../src/channels/channel.ts";
import { systemClock } from "../../src/lib/time/clock.ts";
import { knownModels } from "../../src/models/knowledge/capabilities.ts";
import { CodeTries } from "../../src/rights/people/code-tries.ts";
import { TaskBook } from "../../src/abilities/tasks/task-book.ts";
import { timeZoneFault } from "../../src/lib/time/time-zone-fault.ts";
import { homePaths } from "../../src/config/home/home.ts";
import { createEraser } from "../../src/host/erasure.ts";
import { Aliases } from "../../src/rights/people/aliases.ts";
import { createPeopleView } from "../../src/config/serving/people.ts";
import { createAdmissions } from "../../src/intake/chats/admissions.ts";
import { openGroupRegistry } from "../../src/intake/chats/group-registry.ts";
import type { Store } from "../../src/stores/contract/store.ts";
import { byMessage } from "../contracts/store-setup.ts";
import { someStoredGroup } from "./some-group.ts";
import { checkoutFolder } from "./engine.ts";
import { openStoreAt } from "./open-store-at.ts";
import { ofMember } from "./lineages.ts";

/** A pool in memory: what an operator sees of containers, without containers. */
class MemoryPool {
  hot: HotContainerView[] = [];

  list(): HotContainerView[] {
    return this.hot;
  }

  stop(session: string): Promise<boolean> {
    const before = this.hot.length;
    this.hot = this.hot.filter((container) => container.session !== session);
    return Promise.resolve(this.hot.length < before);
  }
}

/** A channel that is linked by a code, as those of messengers are. */
class LinkedChannel implements OperableChannel {
  readonly name = "messenger";

  state(): ChannelState {
    return { state: "connecting", since: 0, detail: "waits for a login" };
  }

  async *login(): AsyncGenerator<LoginEvent> {
    yield { pairingCode: "ABCD-1234" };
    yield await Promise.resolve({ state: "open" as const });
  }
}

/**
 * The control server of a host in this home, with a real store and real groups, but without containers and channels.
 */
export interface ControlledHost extends AsyncDisposable {
  /** Asks this host through its socket. */
  readonly client: HostClient;
  readonly store: Store;
  readonly pool: MemoryPool;
  readonly deltas: DeltaBus;
  readonly records: EventData["operation.requested"][];
  readonly publish: Publish;
  /** From now on nothing can be put on record. */
  breakAudit(): void;
}

export async function startControlledHost(home: string): Promise<ControlledHost> {
  await using stack = new AsyncDisposableStack();
  const store = stack.use(await openStoreAt(join(home, "crabpot.sqlite")));
  const config = configSchema(builtInAdapters).parse({ channels: { terminal: {}, whatsapp: {} } });
  const groups = await openGroupRegistry({
    configured: configuredGroups(config),
    store: store.groups,
    resolve: someStoredGroup,
    prepare: () => Promise.resolve(),
  });
  const pool = new MemoryPool();
  const records: EventData["operation.requested"][] = [];
  let auditBroken = false;
  const events = new EventBus({
    store: store.events,
    record: async ({ type, data }) => {
      await Promise.resolve();
      if (auditBroken) throw new Error("the disk is full");
      if (type === "operation.requested" || type === "operation.ended") records.push(data);
    },
    redact: (text) => text,
    clock: systemClock,
    logger: pino({ level: "silent" }),
  });
  const deltas = new DeltaBus(pino({ level: "silent" }));
  const terminal: OperableChannel = { name: "terminal", state: () => ({ state: "open", since: 0 }) };
  const outbox = stack.use(
    new Outbox({
      store: store.outbox,
      channelOf: () => undefined,
      publish: () => Promise.resolve(),
      logger: pino({ level: "silent" }),
      clock: systemClock,
    }),
  );
  const needs: OperationNeeds = {
    host: {
      version: "1.2.3",
      instance: "0123456789abcdef",
      home,
      pid: process.pid,
      startedAt: systemClock.now(),
      assistant: "crab",
      models: ["offline/scripted"],
      maxHot: 16,
    },
    store,
    groups: { ...groups, settings: () => groups.list(), folders: () => store.groups.folders() },
    routes: ["main"],
    viewContext: (session, how) =>
      viewContext({ store, roomOf: () => ({ windowTokens: 32_000, promptTokens: 28_000 }) }, session, how),
    models: knownModels(() => config.models),
    modelRoutes: { all: () => ({ main: ["offline/scripted"] }), usual: () => "main" },
    modelsOf: () => ["offline/scripted"],
    budgetOf: () => ({ usdPerDay: 5, tokensPerDay: undefined }),
    isActive: () => false,
    agentNameOf: () => "crab",
    restOf: () => undefined,
    mounts: { judge: () => Promise.resolve([]) },
    reviewService: {
      list: () => Promise.resolve([]),
      decide: () => Promise.reject(new AppError("not_found", "No folder has review here.")),
    },
    forgetLearned: (models) => store.usage.forgetLearned(models, { factors: true }),
    costOf: (_model, usage) => usage.outputTokens / 1_000,
    totalUsdPerDay: 5,
    people: createPeopleView({ live: new LiveConfig(config), adapters: builtInAdapters }),
    eraser: createEraser({
      store,
      home: { paths: homePaths(home) },
      environment: { checkout: checkoutFolder },
      config,
      aliases: new Aliases([]),
      publish: (event) => events.publish(event),
      fingerprint: (text) => ({ sha256: `digest of ${text}`, chars: text.length }),
      clock: systemClock,
    }),
    pool,
    channels: [terminal, new LinkedChannel()],
    isConfigured: (name) => Object.hasOwn(config.channels, name),
    chatFault: (channel, chat) => chatFault(builtInAdapters, channel, chat),
    outbox,
    admissions: createAdmissions({
      store,
      registry: groups,
      isNameFree: ({ name }) => Promise.resolve(groups.byName(name) === undefined),
      isOffered: () => true,
      assistantName: "crab",
      chats: { registered: () => Promise.resolve() },
      publish: () => Promise.resolve(),
      tries: new CodeTries(store.requests, () => systemClock.now()),
      now: () => systemClock.now(),
    }),
    taskDesk: new TaskBook({
      tasks: store.tasks,
      timeZone: () => "UTC",
      zoneFault: timeZoneFault,
      changed: () => undefined,
      workAdded: () => undefined,
      publish: () => Promise.resolve(),
      clock: systemClock,
    }),
    subAgents: { cancel: () => Promise.resolve(false) },
    approvalService: new ApprovalService({
      store: store.approvals,
      wake: () => Promise.resolve(),
      carryOut: () => Promise.reject(new Error("nothing is proposed here")),
      carryOutReviews: async () => "done",
      forms: { read: () => undefined, fill: () => undefined, settled: () => undefined },
      isMoot: async () => false,
      deniedBy: () => Promise.resolve(undefined),
      deliver: () => outbox.wake(),
      publish: () => Promise.resolve(),
      clock: systemClock,
      forwardClock: systemClock,
      logger: pino({ level: "silent" }),
    }),
    jobs: { stop: () => Promise.resolve(false) },
    engine: { facts: async () => ({ kind: "docker", version: "99", address: "somewhere" }) as never },
    waitingGroups: () => 0,
    images: {
      states: () => [],
      list: () => Promise.resolve([]),
      build: () => Promise.resolve(undefined),
      prune: () => Promise.resolve([]),
    },
    mcp: {
      list: () => [],
      require: () => {
        throw new Error("there are no MCP servers");
      },
      test: () => Promise.reject(new Error("there are no MCP servers")),
      allowForOperator: () => Promise.reject(new Error("there are no MCP servers")),
    },
    changedDescriptions: { openFor: () => Promise.resolve(undefined) },
    refusedMounts: () => [{ group: "main", source: "/x", target: "site", reason: "Denied: no root." }],
    intake: () => ({ open: true }),
    config: {
      state: () => ({ state: "applied", since: 0 }),
      reload: () => Promise.resolve({ changed: [], changes: [], config: { state: "applied", since: 0 } }),
      diff: () => Promise.resolve({ faults: [], differences: [] }),
    },
    settings: {
      get: () => Promise.reject(new Error("there is no configuration")),
      readEdit: (path, value) => ({ path: path.split("."), value }),
      edit: () => Promise.reject(new Error("there is no configuration")),
      showGroup: () => Promise.reject(new Error("there is no configuration")),
      setGroup: () => Promise.reject(new Error("there is no configuration")),
    },
    outdatedSkills: () => Promise.resolve([]),
    nextHeartbeat: () => undefined,
    webhooks: { list: () => [], url: () => undefined, sign: () => "" },
    stop: () => undefined,
    requeue: (turn) => store.messages.requeue(turn.id),
    publish: async () => undefined,
    workAdded: () => undefined,
    events: store.events,
    nextEvent: (signal) => events.next(signal),
    watchDeltas: (group, signal) => deltas.read(group, signal),
    clock: systemClock,
    forwardClock: systemClock,
    plugins: () => [],
    memory: {
      search: () => Promise.resolve([]),
      list: () => Promise.resolve([]),
      get: () => Promise.resolve(undefined),
      forget: () => Promise.resolve(false),
    },
    skills: { list: () => Promise.resolve([]) },
  };
  stack.use(
    await startControlServer({
      socketPath: homePaths(home).controlSocket,
      needs,
      publish: events.publish,
      onFault: () => {},
    }),
  );
  const owned = stack.move();
  return {
    client: new HostClient(homePaths(home).controlSocket),
    store,
    publish: events.publish,
    pool,
    deltas,
    records,
    breakAudit: () => {
      auditBroken = true;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A turn that failed after a model call and a tool call, with one message of a member. */
export async function addFailedTurn(store: Store, id: string): Promise<void> {
  const session = await store.sessions.open("main:terminal:main", "main");
  const message = {
    channel: "terminal",
    chat: "main",
    id: `m-${id}`,
    sender: { id: "ann", name: "Ann" },
    mention: true,
  };
  const { seq } = await store.messages.insert(
    { ...message, text: "please \u001b[31mlook" },
    { group: "main", state: "waiting", at: 1_000 },
  );
  const user = {
    body: { kind: "user", text: "look" },
    tokens: 1,
    at: 1_000,
    takes: { messages: [seq], cursor: seq, lineage: ofMember },
  } as const;
  await store.turns.begin({ id, session: session.id, group: "main", conversation: 1, ...byMessage, at: 1_000 }, user);
  const call = { id: "c1", name: "shell", input: { command: "ls" } };
  const usage = { inputTokens: 100, cachedInputTokens: 40, outputTokens: 7 };
  const answer = { text: "I look.", toolCalls: [call], stop: "tool-calls", usage, model: "offline/scripted" } as const;
  await store.turns.addStep(id, { body: { kind: "model", answer, denied: [] }, tokens: 1, at: 1_250 });
  const result = { callId: "c1", output: "x".repeat(5_000), isError: false };
  await store.turns.addStep(id, { body: { kind: "tools", results: [result] }, tokens: 1, at: 2_000 });
  await store.turns.finish(id, { state: "failed", reason: "no answer", at: 3_000, steps: [], outgoing: [] });
}
