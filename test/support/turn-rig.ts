import { pino } from "pino";

import type { Group } from "../../src/domain/chats/group.ts";
import type { Fingerprint } from "../../src/domain/fingerprint.ts";
import type { NewEvent } from "../../src/domain/events/event.ts";
import type { ModelAnswer, ToolCall } from "../../src/domain/turns/model.ts";
import { mainSessionKey } from "../../src/domain/turns/session.ts";
import { AppError } from "../../src/lib/app-error.ts";
import { systemClock } from "../../src/lib/time/clock.ts";
import type { AgentToolResult, HostPayload } from "../../src/protocol/messages.ts";
import type { JudgeHearing } from "../../src/rights/people/hearing.ts";
import { createQuestions } from "../../src/rights/approvals/asking.ts";
import type { TurnListener } from "../../src/sandbox/pool/hot-container.ts";
import type { Store } from "../../src/stores/contract/store.ts";
import { ConversationTools } from "../../src/tools/conversation-tools.ts";
import type { HostTool } from "../../src/tools/define-tool.ts";
import { ToolRegistry } from "../../src/tools/registry.ts";
import type { TurnCollaborators, TurnContainer } from "../../src/turns/collaborators.ts";
import { ActiveTurns } from "../../src/turns/active-turns.ts";
import { SessionLeases } from "../../src/turns/sessions/session-leases.ts";
import { collectMessages } from "../../src/turns/steps/collect-messages.ts";
import { TurnRunner } from "../../src/turns/turn-runner.ts";
import { say } from "../contracts/store-setup.ts";
import { openTestStore } from "./open-test-store.ts";
import { resolvedGroup } from "./resolved-group.ts";
import { someGroup } from "./some-group.ts";

/** Scripted by a test. */
export interface TurnScript {
  /** Answers of the model, in order; an error is thrown. */
  readonly answers: (ModelAnswer | Error)[];
  readonly tools?: readonly HostTool[];
  readonly policy?: Parameters<typeof resolvedGroup>[1];
  readonly settings?: { readonly timeoutMs?: number };
  /** Ids of people who are not heard, which may change meanwhile. */
  readonly denied?: ReadonlySet<string>;
  /** Called with what the container gets, before its agent acts on it; true: the agent does not. */
  readonly onSent?: (payload: HostPayload, agent: ScriptedAgent) => boolean | Promise<boolean>;
}

/** Answers as a model gives them. */
export function modelAnswer(text: string, ...toolCalls: readonly ToolCall[]): ModelAnswer {
  const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1 };
  return { text, toolCalls, stop: toolCalls.length > 0 ? "tool-calls" : "end", usage, model: "fake/model" };
}

/**
 * A container with an agent that does what the protocol says: asks the model, runs calls by the host, ends the turn.
 */
export class ScriptedAgent implements TurnContainer {
  readonly listener: TurnListener;
  readonly #script: TurnScript;
  readonly #log: (entry: string) => void;
  readonly #results = new Map<string, (result: { readonly output: string; readonly isError: boolean }) => void>();

  constructor(listener: TurnListener, script: TurnScript, log: (entry: string) => void) {
    this.listener = listener;
    this.#script = script;
    this.#log = log;
  }

  async send(payload: HostPayload): Promise<void> {
    this.#log(payload.type);
    if ((await this.#script.onSent?.(payload, this)) === true) return;
    if (payload.type === "turn-start") this.say({ type: "model-request", turn: this.listener.turn, append: [] });
    if (payload.type === "model-response") void this.#work(payload);
    if (payload.type === "tool-response") this.#results.get(payload.callId)?.(payload);
    if (payload.type === "cancel") this.say(this.#end("cancelled"));
  }

  say(payload: Parameters<TurnListener["onMessage"]>[0]): void {
    queueMicrotask(() => this.listener.onMessage(payload));
  }

  /** Asks the host for a call, whether the model has made it or not. */
  async call({ id, name, input }: ToolCall): Promise<AgentToolResult> {
    const { promise, resolve } = Promise.withResolvers<{ readonly output: string; readonly isError: boolean }>();
    this.#results.set(id, resolve);
    this.say({ type: "tool-request", turn: this.listener.turn, callId: id, name, input });
    const { output, isError } = await promise;
    return { callId: id, output, isError };
  }

  async #work({ toolCalls }: Extract<HostPayload, { type: "model-response" }>): Promise<void> {
    if (toolCalls.length === 0) return this.say(this.#end("done"));
    const append = await Promise.all(toolCalls.map((call) => this.call(call)));
    this.say({ type: "model-request", turn: this.listener.turn, append });
  }

  #end(outcome: "done" | "cancelled") {
    return { type: "turn-end", turn: this.listener.turn, outcome, text: "" } as const;
  }

  async close(reason: string): Promise<void> {
    this.#log("close");
    this.listener.onLost(reason);
  }

  async limitHits(): Promise<[]> {
    return [];
  }

  takeFile(): Promise<never> {
    return Promise.reject(new Error("no files here"));
  }

  giveFile(): Promise<never> {
    return Promise.reject(new Error("no files here"));
  }
}

const silent = pino({ level: "silent" });
const noPlace = { leave: () => undefined, claim: async () => undefined, overdue: () => ({ [Symbol.dispose]() {} }) };

/** A runner of turns with a real store, real tools and policy, and an agent and a model that follow the script. */
export async function openTurnRig(script: TurnScript) {
  const opened = await openTestStore();
  const { store } = opened;
  const log: string[] = [];
  const events: NewEvent[] = [];
  const agents: ScriptedAgent[] = [];
  const group = someGroup("family", { channel: "terminal", chat: "chat" });
  const leases = new SessionLeases({ leases: store.leases, owner: "host", clock: systemClock, logger: silent });
  const active = new ActiveTurns();
  const parts = collaborators(script, { store, active, log, events, agents, group });
  const runner = new TurnRunner({ ...parts, leases });
  const ended = new AbortController();
  return {
    store,
    runner,
    active,
    log,
    events,
    agents,
    group,
    session: () => store.sessions.open(mainSessionKey(group), group.name),
    /** Says something to the agent, and lets the runner work on it. */
    ask: async (id: string, ...others: readonly { readonly id: string; readonly by: string }[]) => {
      for (const message of [say(id), ...others.map((one) => say(one.id, { sender: { id: one.by, name: one.by } }))])
        await store.messages.insert(message, { group: "family", state: "waiting", at: Date.now() });
      return runner.run({ group, key: mainSessionKey(group) }, ended.signal, { ...noPlace, [Symbol.dispose]() {} });
    },
    resume: (signal = ended.signal) =>
      runner.run({ group, key: mainSessionKey(group) }, signal, { ...noPlace, [Symbol.dispose]() {} }),
    outbox: async () => (await store.outbox.list({ limit: 20 })).map(({ text }) => text).toReversed(),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

function fingerprint(text: string): Fingerprint {
  return { sha256: "0".repeat(64), chars: text.length };
}

function unused(): never {
  throw new AppError("usage", "not in this test");
}

interface Recorded {
  readonly store: Store;
  readonly active: ActiveTurns;
  readonly log: string[];
  readonly events: NewEvent[];
  readonly agents: ScriptedAgent[];
  readonly group: Group;
}

function collaborators(
  script: TurnScript,
  { store, active, log, events, agents }: Recorded,
): Omit<TurnCollaborators, "leases"> {
  const resolved = resolvedGroup("family", script.policy);
  const settings = { ...resolved, turns: { ...resolved.turns, ...script.settings } };
  const registry = new ToolRegistry(script.tools ?? []);
  const tools = new ConversationTools({
    registryOf: async () => registry,
    sessions: store.sessions,
    channelCan: () => true,
  });
  const answers = [...script.answers];
  const hearingOf: JudgeHearing = (_group, { id }) =>
    script.denied?.has(id) === true ? { may: "nothing", setting: "deny" } : { may: "trigger" };
  const sources = { messages: store.messages, pictures: { imagesOf: async () => new Map() }, fingerprint, hearingOf };
  return {
    store,
    active,
    roleOf: () => "member",
    hearingOf,
    groups: { forSession: async (of) => ({ group: of, settings }), narrow: async (whole) => ({ settings: whole }) },
    models: { hold: () => ({ callsTools: () => true, [Symbol.dispose]() {} }) as never },
    pool: {
      acquire: async (_group, _session, listener) => {
        const agent = new ScriptedAgent(listener, script, (entry) => log.push(entry));
        agents.push(agent);
        return agent;
      },
      release: () => log.push("release"),
      stop: async () => true,
    },
    machine: { untilWritable: async () => undefined },
    conversation: {
      ask: async (scope, signal) => {
        const steps = await store.turns.steps(scope.turn.id);
        log.push(`ask after ${steps.at(-1)?.body.kind}`);
        signal.throwIfAborted();
        const next = answers.shift() ?? new Error("the script has no more answers");
        if (next instanceof Error) throw next;
        return next;
      },
      toolsOf: (scope) =>
        tools.of(scope.group, scope.turn, {
          can: { callTools: true, seeImages: false },
          settings,
          provenance: async () => ({ role: "member", origins: ["member"] }),
        }),
      changeSince: async () => undefined,
      collect: (place, openSession) =>
        collectMessages({ ...sources, roleOf: () => "member", clock: systemClock }, place, openSession),
      takeJobNews: () => [],
    },
    calls: {
      ...createQuestions({
        settings: () => ({ expiresMinutes: 30, approvers: "member" }),
        askerOf: async () => ({ id: "terminal:ann", name: "Ann", role: "member" }),
        isThere: () => true,
        changeOf: async () => undefined,
        byThumb: () => false,
        randomBelow: (limit) => limit - 1,
        clock: systemClock,
      }),
      approvalsAsked: () => log.push("asked"),
      reviewsOf: async () => [],
      reviewsAsked: async () => {},
      futility: async () => undefined,
      refusal: async () => undefined,
      changeOutcome: unused,
      prepareSpawns: unused,
      spawned: unused,
    },
    tools: {
      portsOf: () => ({}) as never,
      sessionsFor: () => ({}) as never,
      keepFile: unused,
      readCovered: unused,
      keepVoice: unused,
      keepImage: unused,
    },
    answers: {
      formatReply: (text) => text,
      formatNotice: (text) => text,
      tellFailure: () => true,
      deliver: () => log.push("deliver"),
      workAdded: () => log.push("work added"),
    },
    watchers: {
      began: () => log.push("began"),
      doing: () => false,
      printing: () => undefined,
      saying: () => undefined,
      parked: () => log.push("parked"),
      ended: () => log.push("ended"),
    },
    publish: async (event) => {
      events.push(event);
      log.push(event.type);
    },
    fingerprint,
    clock: systemClock,
    logger: silent,
  };
}
