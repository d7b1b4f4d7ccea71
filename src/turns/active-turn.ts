import type { LimitHit } from "../domain/turns/limit.ts";
import type { ModelAnswer, ToolResult } from "../domain/turns/model.ts";
import type { Part } from "../domain/chats/part.ts";
import type { Step } from "../domain/turns/turn.ts";
import { AppError, isPassing, toError } from "../lib/app-error.ts";
import type { AgentToolResult, ModelRequest } from "../protocol/messages.ts";
import { ofHost } from "../domain/rights/sourced.ts";
import { keepAgentResults, resultsStep, type SourcedResult } from "./steps/result-parts.ts";
import { AgentSilence } from "./agent-silence.ts";
import type { TurnListener } from "../sandbox/pool/hot-container.ts";
import { finalAnswer, interrupted, lastAnswer } from "./steps/answers.ts";
import { type TurnFailure, failureOf } from "./ending/failure-words.ts";
import { AnswerGate } from "./tool-calls/answer-gate.ts";
import { HostToolRunner, type HostToolRequest } from "./tool-calls/host-tool-runner.ts";
import { ScriptReading } from "./tool-calls/script-reading.ts";
import { ToolsWait } from "./tool-calls/tools-wait.ts";
import { publishToolResults } from "./tool-calls/tool-events.ts";
import { steer } from "./steps/steer.ts";
import type { TurnCollaborators, TurnContainer } from "./collaborators.ts";
import { turnIdsOf, type TurnScope } from "./turn-scope.ts";
import { TurnSteps } from "./steps/turn-steps.ts";

/**
 * Outcome of a container's work on a turn. `lost`: the container is gone, another one may continue. `troubled`: the
 * machine had no room or the like; the turn can continue later. `parked`: waits for people or sub-agents. `suspended`:
 * the host is shutting down, the next start continues.
 */
export type TurnOutcome =
  | {
      readonly kind: "ended";
      readonly state: "done" | "failed" | "cancelled";
      readonly text: string;
      /** Failure code, for an error. */
      readonly failure?: TurnFailure | undefined;
    }
  | { readonly kind: "lost"; readonly reason: string }
  | { readonly kind: "troubled"; readonly reason: string }
  | { readonly kind: "parked" }
  | { readonly kind: "suspended" };

/** Answers in a row whose every tool call was denied, before the turn is given up. */
const deniedRounds = 8;
const cancelGraceMs = 5_000;
const progressEveryMs = 1_000;

/** The host's side of one container's work on one turn. Every step is stored before it is acted on. */
export class ActiveTurn implements TurnListener {
  readonly #scope: TurnScope;
  readonly #parts: TurnCollaborators;
  readonly #outcome = Promise.withResolvers<TurnOutcome>();
  readonly #suspended = Promise.withResolvers<undefined>();
  readonly #modelCall = new AbortController();
  readonly #hostTools: HostToolRunner;
  readonly #gate: AnswerGate;
  readonly #steps: TurnSteps;
  readonly #silence: AgentSilence;
  readonly #tools: ToolsWait;
  readonly #resumed: boolean;
  #container: TurnContainer | undefined;
  #answering = false;
  #isParking = false;
  readonly #scripts: ScriptReading;
  #requests = 0;
  #progressAt = Number.NEGATIVE_INFINITY;
  #cancelled: { readonly state: "failed" | "cancelled"; readonly reason: string } | undefined;

  /** `resumed`: another container has worked on the turn before. */
  constructor(scope: TurnScope, parts: TurnCollaborators, resumed: boolean) {
    this.#scope = scope;
    this.#parts = parts;
    this.#resumed = resumed;
    const { silenceMs: limitMs, holdMs } = scope.settings.turns;
    this.#silence = new AgentSilence({ limitMs, ping: () => this.#ping(), fell: () => this.#fallSilent() });
    this.#tools = new ToolsWait({ place: scope.place, holdMs, end: () => this.#onHeldTooLong() });
    this.#steps = new TurnSteps(parts, scope, resumed ? undefined : scope.firstStep);
    this.#scripts = new ScriptReading(scope.turn.id, (payload) => this.#say(payload));
    this.#gate = new AnswerGate(scope, parts, { steps: this.#steps, scripts: this.#scripts });
    const ended = this.#modelCall.signal;
    this.#hostTools = new HostToolRunner(scope, parts, { ended, gate: this.#gate, container: () => this.#container });
  }

  get turn(): string {
    return this.#scope.turn.id;
  }

  get group(): string {
    return this.#scope.group.name;
  }

  /** Reason of a cancellation, if any. */
  get cancelled(): { readonly state: "failed" | "cancelled"; readonly reason: string } | undefined {
    return this.#cancelled;
  }

  /** Lets the container work until the turn has an outcome. Rejects only when no container could be had. */
  async work(signal: AbortSignal): Promise<TurnOutcome> {
    const { group, session, turn, clock } = this.#scope;
    const timeout = setTimeout(() => {
      this.#onTimeout();
    }, this.#scope.settings.turns.timeoutMs);
    const suspend = (): void => {
      this.#outcome.resolve({ kind: "suspended" });
      this.#suspended.resolve(undefined);
    };
    signal.addEventListener("abort", suspend, { once: true });
    try {
      if (!(await this.#claimPlace(signal))) return { kind: "suspended" };
      clock.enter("container");
      const acquiring = this.#parts.pool.acquire(group, session, this);
      this.#container = await Promise.race([acquiring, this.#suspended.promise]);
      if (!this.#container) return await this.#leave(acquiring);
      if (this.#cancelled) return { kind: "ended", state: this.#cancelled.state, text: this.#cancelled.reason };
      clock.enter("mailbox");
      const { announced } = await this.#parts.conversation.toolsOf(this.#scope);
      const { jobs } = this.#scope.settings;
      await this.#say({ type: "turn-start", turn: turn.id, resumed: this.#resumed, tools: [...announced], jobs });
      return await this.#outcome.promise;
    } finally {
      clearTimeout(timeout);
      this.#silence[Symbol.dispose]();
      this.#tools[Symbol.dispose]();
      signal.removeEventListener("abort", suspend);
      this.#modelCall.abort(new AppError("cancelled", "The turn has ended."));
      this.#parts.pool.release(session.id);
    }
  }

  /** The host stops before there is a container. The pool sees to what becomes of one that is being made. */
  async #leave(acquiring: Promise<TurnContainer>): Promise<TurnOutcome> {
    acquiring.then(
      () => this.#parts.pool.release(this.#scope.session.id),
      (error: unknown) => this.#parts.logger.debug({ error }, "a container was no longer needed"),
    );
    return { kind: "suspended" };
  }

  /** Stops the turn: the agent gets a moment to stop its tools, then its container is ended. */
  cancel(why: { readonly state: "failed" | "cancelled"; readonly reason: string }): void {
    if (this.#cancelled) return;
    this.#cancelled = why;
    this.#modelCall.abort(new AppError("cancelled", why.reason));
    this.#stopAgent(why.reason);
  }

  /** People have to decide, or sub-agents to be done: the container is free for others until then. */
  #park(): void {
    this.#isParking = true;
    this.#scope.clock.enter(undefined);
    this.#stopAgent("The turn waits.");
  }

  #stopAgent(reason: string): void {
    const container = this.#container;
    if (!container) return;
    const grace = setTimeout(() => void container.close("it did not stop when asked to"), cancelGraceMs);
    void this.#outcome.promise.then(() => clearTimeout(grace));
    container.send({ type: "cancel", turn: this.#scope.turn.id, reason }).catch(() => undefined);
  }

  #onTimeout(): void {
    const { timeoutMs } = this.#scope.settings.turns;
    const reason = `It took longer than the ${formatMinutes(timeoutMs)} that a turn may take.`;
    this.#background(this.#tellLimit({ limit: "turn-time", value: timeoutMs, text: reason }));
    this.cancel({ state: "failed", reason });
  }

  /** Others wait, and there is no other place for them. */
  #onHeldTooLong(): void {
    const { holdMs } = this.#scope.settings.turns;
    const reason = `Its tools had run for ${formatMinutes(holdMs)}, and other groups were waiting for a place.`;
    this.#background(this.#tellLimit({ limit: "place-time", value: holdMs, text: reason }));
    this.cancel({ state: "failed", reason });
  }

  async #tellLimit(hit: LimitHit): Promise<void> {
    const data = { ...hit, unreported: 0 };
    await this.#parts.publish({ type: "limit.reached", ...turnIdsOf(this.#scope), actor: "agent", data });
  }

  /** An agent may say so as often as it likes; it is told at most once a second. */
  async #tellProgress(chars: number): Promise<void> {
    const now = this.#parts.clock.monotonic();
    if (now - this.#progressAt < progressEveryMs) return;
    this.#progressAt = now;
    await this.#parts.publish({ type: "agent.progressed", ...turnIdsOf(this.#scope), actor: "agent", data: { chars } });
  }

  /** False when the host stops before; a turn that was stopped while it waited goes on, to its end. */
  async #claimPlace(signal: AbortSignal): Promise<boolean> {
    const { clock, place } = this.#scope;
    clock.enter("queue");
    await place.claim(AbortSignal.any([signal, this.#modelCall.signal])).catch(() => undefined);
    return !signal.aborted;
  }

  onMessage(payload: Parameters<TurnListener["onMessage"]>[0]): void {
    if (!("turn" in payload) || payload.turn !== this.#scope.turn.id) return;
    this.#silence.heard(payload.type === "pong" ? "pong" : "message");
    if (payload.type === "pong") return;
    if (payload.type === "scripts") this.#scripts.take(payload);
    else if (payload.type === "model-request") this.#background(this.#onModelRequest(payload));
    else if (payload.type === "tool-request") this.#background(this.#onToolRequest(payload));
    else if (payload.type === "tool-output") this.#parts.watchers.printing(this.#scope, payload);
    else if (payload.type === "progress") this.#background(this.#tellProgress(payload.text.length));
    else this.#background(this.#onTurnEnd(payload.outcome, payload.text));
  }

  onLost(reason: string): void {
    if (this.#cancelled) this.#end(this.#cancelled.state, this.#cancelled.reason);
    else this.#outcome.resolve(this.#isParking ? { kind: "parked" } : { kind: "lost", reason });
  }

  /** The agent says that it is through; what came of it is what the model said last, not what the agent claims. */
  async #onTurnEnd(outcome: "done" | "failed" | "cancelled", claim: string): Promise<void> {
    if (this.#cancelled) return this.#end(this.#cancelled.state, this.#cancelled.reason);
    if (this.#isParking) return this.#outcome.resolve({ kind: "parked" });
    const answer = lastAnswer(await this.#steps.last());
    if (outcome === "done" && answer) return this.#end("done", answer.text);
    if (outcome === "done") await this.#hostTools.overstepped("It ended the turn before the model had answered.");
    await this.#parts.publish({ type: "agent.failed", ...turnIdsOf(this.#scope), actor: "agent", data: { claim } });
    this.#end("failed", "the agent's program gave up in the middle of its work.");
    await this.#container?.close("its agent gave up in the middle of a turn");
  }

  #end(state: "done" | "failed" | "cancelled", text: string, failure?: TurnFailure): void {
    this.#scope.clock.enter(undefined);
    this.#outcome.resolve({ kind: "ended", state, text, failure });
  }

  /** Work that the mailbox does not wait for; what goes wrong in it ends the turn. */
  #background(work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (!this.#cancelled) this.#give(toError(error));
    });
  }

  async #onModelRequest(asked: ModelRequest): Promise<void> {
    if (this.#answering)
      return this.#parts.logger.warn("the agent asked the model twice at once; the second is ignored");
    this.#answering = true;
    this.#requests += 1;
    try {
      const { turn, clock, place } = this.#scope;
      this.#tools.over();
      clock.enter("queue");
      await place.claim(this.#modelCall.signal);
      clock.enter("context");
      this.#parts.watchers.doing(this.#scope, []);
      const answer = await this.#nextAnswer(asked);
      if (answer === "parked") return this.#park();
      const { text, toolCalls } = answer;
      clock.enter(toolCalls.length > 0 ? "tools" : "mailbox");
      if (toolCalls.length > 0) this.#tools.begin();
      const outputs = this.#parts.watchers.doing(this.#scope, toolCalls) || undefined;
      const request = this.#requests;
      await this.#say({ type: "model-response", turn: turn.id, request, text, toolCalls: [...toolCalls], outputs });
    } catch (error) {
      await this.#fail(toError(error));
    } finally {
      this.#answering = false;
    }
  }

  /** Ends the work on the turn for this error; whether the turn ends with it depends on whose fault it is. */
  #give(error: Error): void {
    if (isPassing(error)) this.#outcome.resolve({ kind: "troubled", reason: error.message });
    else this.#end("failed", error.message, failureOf(error));
  }

  /**
   * The model could not be asked: the agent is told, the turn ends; a cancelled turn ends as what it was cancelled for.
   */
  async #fail(error: Error): Promise<void> {
    const { turn } = this.#scope;
    if (isPassing(error) && !this.#cancelled) return this.#give(error);
    // Why is the group's and the operator's business: a vendor's words and budgets of others do not go into a
    // container.
    const reason = "The model could not be asked.";
    await this.#container?.send({ type: "model-failure", turn: turn.id, request: this.#requests, reason });
    if (!this.#cancelled) this.#end("failed", error.message, failureOf(error));
  }

  /**
   * The next answer that the agent can act on: with calls that may run, or final. `parked`: people or
   * sub-agents come first.
   */
  async #nextAnswer({ append, directory }: ModelRequest): Promise<Pick<ModelAnswer, "text" | "toolCalls"> | "parked"> {
    const last = await this.#steps.last();
    const final = lastAnswer(last);
    if (final) return final;
    const resumed = await this.#gate.resume(last);
    if (resumed === "parked" || (resumed && resumed.toolCalls.length > 0)) return resumed;
    await this.#storeResults(last, append);
    for (let round = 0; round < deniedRounds; round += 1) {
      await steer(this.#scope, this.#parts, this.#steps);
      await this.#refuseEndless();
      const answer = await this.#parts.conversation.ask(this.#scope, this.#modelCall.signal);
      const allowed = await this.#gate.judge(answer, directory);
      if (allowed === "parked") return "parked";
      if (answer.toolCalls.length === 0) return finalAnswer(answer);
      if (allowed.length > 0) return { text: answer.text, toolCalls: allowed };
      // Some were the host's own to do.
      const done = await this.#steps.last();
      if (await this.#storeResults(done, [])) round = -1;
    }
    throw new AppError("model_refused", "The model kept asking for tools that this group may not use.");
  }

  /** Throws when the turn has taken too many steps, or none that gets it anywhere. */
  async #refuseEndless(): Promise<void> {
    const hit = (await this.#steps.progress()).limitHit(this.#scope.settings.turns.maxSteps);
    if (!hit) return;
    await this.#tellLimit(hit);
    throw new AppError("rate_limited", hit.text);
  }

  /**
   * Returns whether there were any. Stores the results of the calls that were allowed; a call without one is told to
   * the model as interrupted.
   */
  async #storeResults(last: Step | undefined, append: readonly AgentToolResult[]): Promise<boolean> {
    if (last?.body.kind !== "model") return false;
    const { answer, denied } = last.body;
    const refused = new Set(denied.map((result) => result.callId));
    const tools = await this.#parts.conversation.toolsOf(this.#scope);
    const byAgent = append.map((result) => {
      const call = answer.toolCalls.find(({ id }) => id === result.callId);
      return { ...result, sources: tools.exposureOf(call ? [call] : []) ?? ofHost`` };
    });
    const known = [...byAgent, ...(await this.#gate.handedBack(last)), ...(await this.#gate.denials(last))];
    const given = new Map(known.map((result) => [result.callId, result]));
    const calls = answer.toolCalls.filter((call) => !refused.has(call.id));
    const all = calls.map((call) => given.get(call.id) ?? interrupted(call.id));
    if (all.length === 0) return false;
    const shownBy = (callId: string): readonly Part[] => this.#hostTools.takeShown(callId);
    const container = this.#container;
    const taken = await keepAgentResults(all, {
      group: this.#scope.group,
      container,
      pictures: this.#parts.tools,
      shownBy,
    });
    const stored = await this.#withLimits(taken);
    const results = stored.map(({ result }) => result);
    await publishToolResults(this.#scope, this.#parts, { calls: answer.toolCalls, results });
    // While they ran, others may have written what they read.
    await this.#steps.add(resultsStep(stored, { exposure: tools.exposureOf(calls), at: this.#steps.now() }));
    return true;
  }

  /** Tells the model which limits its tools have run into: from inside, the effect looks like anything. */
  async #withLimits(results: readonly SourcedResult[]): Promise<readonly SourcedResult[]> {
    const hits = (await this.#container?.limitHits()) ?? [];
    const last = results.at(-1);
    if (!last || hits.length === 0) return results;
    const remarks = hits.map((hit) => `[${hit.text}]`);
    return [...results.slice(0, -1), { ...last, result: withRemarks(last.result, remarks) }];
  }

  async #onToolRequest(request: HostToolRequest): Promise<void> {
    const result = await this.#hostTools.run(request, await this.#parts.conversation.toolsOf(this.#scope));
    const { turn } = this.#scope;
    await this.#container?.send({ type: "tool-response", turn: turn.id, callId: request.callId, ...result });
  }

  #ping(): boolean {
    this.#container?.send({ type: "ping", turn: this.#scope.turn.id }).catch((error: unknown) => {
      this.#parts.logger.warn({ error }, "the agent cannot be asked whether it is there");
    });
    return this.#container !== undefined;
  }

  #fallSilent(): void {
    void this.#container?.close(`the agent gave no sign of life for ${this.#scope.settings.turns.silenceMs} ms`);
  }

  /** Sends something that the agent must react to at once; an agent that stays silent has lost its container. */
  async #say(payload: Parameters<TurnContainer["send"]>[0]): Promise<void> {
    const container = this.#container;
    if (!container) return;
    this.#silence.told();
    await container.send(payload);
  }
}

function withRemarks(result: ToolResult, remarks: readonly string[]): ToolResult {
  if (result.parts === undefined) return { ...result, output: [result.output, ...remarks].join("\n") };
  return { ...result, parts: [...result.parts, { kind: "text", text: remarks.join("\n") }] };
}

/** A time in milliseconds as people say it: `40 seconds`, `one minute`, `90 minutes`. */
function formatMinutes(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return `${Math.round(ms / 1000)} seconds`;
  return minutes === 1 ? "one minute" : `${minutes} minutes`;
}
