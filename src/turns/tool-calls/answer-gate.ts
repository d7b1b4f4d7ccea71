import { askedInput, digestInput, type ShownRun } from "../../rights/approvals/asking.ts";
import { denialForModel } from "../../rights/approvals/words.ts";
import type { Approval } from "../../domain/rights/approval.ts";
import type { ModelAnswer, ToolCall } from "../../domain/turns/model.ts";
import type { ApprovedCommand, CallVerdict, Provenance, Verdict } from "../../domain/rights/policy.ts";
import type { Step, StepBody } from "../../domain/turns/turn.ts";
import { type Sourced, sourcesOf } from "../../domain/rights/sourced.ts";
import { scriptsIn } from "../../rights/policy/scripts-in.ts";
import { maxScripts } from "../../protocol/messages.ts";
import { answerStep } from "../steps/answers.ts";
import type { GivenResult } from "../steps/result-parts.ts";
import type { TurnSteps } from "../steps/turn-steps.ts";
import { shellTool } from "../../tools/skills/command-tool.ts";
import type { TurnCollaborators } from "../collaborators.ts";
import { turnIdsOf, type TurnScope } from "../turn-scope.ts";
import { type DeniedCall, judgeCalls, type JudgedCall, type JudgedCalls } from "./judge-calls.ts";
import { areAwaited, isSpawn, SpawnGate } from "./spawn-gate.ts";
import type { ScriptReading } from "./script-reading.ts";
import { publishToolCalls } from "./tool-events.ts";

/** Collaborators for deciding about the calls of answers. */
type GateParts = Pick<TurnCollaborators, "conversation" | "calls" | "answers" | "publish" | "fingerprint" | "clock"> & {
  readonly store: Pick<TurnCollaborators["store"], "approvals" | "subAgents">;
};

/** An answer with the calls of it that the agent is given. */
type Given = Pick<ModelAnswer, "text"> & { readonly toolCalls: readonly GivenCall[] };

/** A call as the agent is given it. */
export type GivenCall = ToolCall & { readonly approved?: ApprovedCommand | undefined };

interface GateSurroundings {
  readonly steps: TurnSteps;
  readonly scripts: Pick<ScriptReading, "read">;
}

/**
 * Decides which calls of the model's answers reach the agent. Where people have to be asked, none of the answer does
 * before all of them are decided, and then once: that they are given out is noted before they are.
 */
export class AnswerGate {
  readonly #scope: TurnScope;
  readonly #parts: GateParts;
  readonly #steps: TurnSteps;
  readonly #spawns: SpawnGate;
  /** Calls of the last answer given to the agent, with their step. */
  #given: { readonly step: number | undefined; readonly ids: ReadonlySet<string> } = {
    step: undefined,
    ids: new Set(),
  };
  /** Calls of it denied by people. */
  #denied: readonly DeniedCall[] = [];
  readonly #scripts: GateSurroundings["scripts"];
  /** Present folder of the session's shell, as its agent says. */
  #directory: string | undefined;

  constructor(scope: TurnScope, parts: GateParts, { steps, scripts }: GateSurroundings) {
    this.#scripts = scripts;
    this.#scope = scope;
    this.#parts = parts;
    this.#steps = steps;
    this.#spawns = new SpawnGate(scope, parts);
  }

  /** True when this call was given to the present agent. */
  wasGiven(step: number | undefined, callId: string): boolean {
    return step !== undefined && this.#given.step === step && this.#given.ids.has(callId);
  }

  /**
   * Stores the answer with what was decided about its calls, and returns those that may run now. `parked`:
   * people or sub-agents come first. `directory`: of the session's shell now.
   */
  async judge(answer: ModelAnswer, directory: string | undefined): Promise<readonly GivenCall[] | "parked"> {
    this.#directory = directory;
    const tools = await this.#parts.conversation.toolsOf(this.#scope);
    const judged = await judgeCalls(answer.toolCalls, tools, {
      granted: async (one) => this.#granted(one, await tools.provenance()),
      refusal: (call) => this.#parts.calls.refusal(this.#scope, call),
      futility: (call) => this.#parts.calls.futility(this.#scope.group, call),
    });
    return judged.asked.length > 0 ? this.#ask(answer, judged) : this.#allow(answer, judged);
  }

  async #ask(answer: ModelAnswer, judged: JudgedCalls): Promise<"parked"> {
    const { allowed, asked } = judged;
    const asks = await this.#prepareAsks(judged);
    const tools = await this.#parts.conversation.toolsOf(this.#scope);
    const exposure = tools.exposureOf([...allowed, ...asked].map(({ call }) => call));
    await this.#steps.add(answerStep(answer, judged, { exposure, asks, at: this.#steps.now() }));
    await publishToolCalls(this.#scope, this.#parts, { ...judged, allowed: [] });
    this.#parts.answers.deliver();
    this.#parts.calls.approvalsAsked();
    return "parked";
  }

  async #allow(answer: ModelAnswer, given: JudgedCalls): Promise<readonly GivenCall[] | "parked"> {
    const tools = await this.#parts.conversation.toolsOf(this.#scope);
    const { spawns, denied } = await this.#spawns.prepare(given.allowed, answer.toolCalls);
    const judged = withDenied(given, denied);
    const exposure = tools.exposureOf(judged.allowed.map(({ call }) => call));
    // They begin with the step.
    if (spawns.length > 0) await publishToolCalls(this.#scope, this.#parts, judged);
    const spawning = spawns.length > 0 ? { spawns } : {};
    await this.#steps.add(answerStep(answer, judged, { exposure, ...spawning, at: this.#steps.now() }));
    if (answer.toolCalls.length > 0 && spawns.length === 0) await publishToolCalls(this.#scope, this.#parts, judged);
    this.#spawns.begun(spawns);
    if (spawns.some(({ background }) => !background)) {
      const last = await this.#steps.last();
      if (last && areAwaited(await this.#spawns.ofStep(last))) return "parked";
      if (last) await this.#spawns.release(last.seq);
    }
    return this.#give(judged.allowed);
  }

  /**
   * Returns the calls that may run after people have decided or sub-agents have ended. `parked`: not yet. Undefined for
   * any other step, and for calls given out before, whose fate is unknown.
   */
  async resume(last: Step | undefined): Promise<Given | "parked" | undefined> {
    if (last?.body.kind !== "model") return undefined;
    if (last.body.asked === undefined) return this.#resumeOthers(last, last.body);
    const { store, clock } = this.#parts;
    const before = await store.approvals.ofStep(last.seq);
    if (before.some(({ state }) => state === "open")) return "parked";
    if (before.every(({ releasedAt }) => releasedAt !== undefined)) return undefined;
    const { answer } = last.body;
    const decided = await this.#decided(last.body, before);
    const judged = await this.#beginDecided(last, answer, decided);
    if (judged === "parked") return "parked";
    for (const approval of before) await this.#publishUse(judged.allowed, approval);
    await publishToolCalls(this.#scope, this.#parts, judged);
    // From here on the calls have begun: after a crash nobody knows what became of them.
    const released = await store.approvals.release(last.seq, clock.now(), this.#scope.lease);
    if (!released) return undefined;
    this.#denied = judged.denied;
    return { text: answer.text, toolCalls: await this.#give(judged.allowed) };
  }

  /** Results of this step's sub-agents. */
  handedBack(last: Step): ReturnType<SpawnGate["results"]> {
    return this.#spawns.results(last);
  }

  /** The calls that had to wait for the sub-agents of their answer. */
  async #resumeOthers(
    last: Step,
    { answer, denied, verdicts = [] }: Extract<StepBody, { kind: "model" }>,
  ): Promise<Given | "parked" | undefined> {
    const agents = await this.#spawns.ofStep(last);
    if (agents.length === 0) return undefined;
    if (areAwaited(agents)) return "parked";
    const refused = new Set(denied.map(({ callId }) => callId));
    const others = answer.toolCalls.filter((call) => !refused.has(call.id) && !isSpawn(call));
    if (others.length === 0 || agents.every(({ background }) => background)) return undefined;
    if (!(await this.#spawns.release(last.seq))) return undefined;
    this.#given = { step: last.seq, ids: new Set(others.map(({ id }) => id)) };
    const verdictOf = ({ id }: ToolCall) => verdicts.find(({ callId }) => callId === id) ?? unknownVerdict;
    return { text: answer.text, toolCalls: others.map((call) => asGiven(call, verdictOf(call))) };
  }

  /** Begins the sub-agents that people have allowed, once; the others of their answer wait for them. */
  async #beginDecided(last: Step, answer: ModelAnswer, judged: JudgedCalls): Promise<JudgedCalls | "parked"> {
    if (!judged.allowed.some(({ call }) => isSpawn(call))) return judged;
    const begun = await this.#spawns.ofStep(last);
    if (begun.length > 0) return areAwaited(begun) ? "parked" : judged;
    const prepared = await this.#spawns.prepare(judged.allowed, answer.toolCalls);
    await this.#spawns.begin(last.seq, prepared);
    if (areAwaited(await this.#spawns.ofStep(last))) return "parked";
    return withDenied(judged, prepared.denied);
  }

  /** Results of the calls of this step that people did not allow. */
  async denials(last: Step): Promise<readonly GivenResult[]> {
    if (last.body.kind !== "model" || last.body.asked === undefined) return [];
    const approvals = await this.#parts.store.approvals.ofStep(last.seq);
    const byPeople = deniedIn(last.body.answer, approvals);
    // Those decided about here include what people said.
    const sources = sourcesOf(byPeople.map(({ reason }) => reason));
    const reasons = new Map([
      ...byPeople.map(({ call, reason }) => [call.id, reason.text] as const),
      ...this.#denied.map(({ call, reason }) => [call.id, reason] as const),
    ]);
    return [...reasons].map(([callId, output]) => ({ callId, output, isError: true, sources }));
  }

  /** The call as a grant covers it, whose use is recorded; undefined: none does. */
  async #granted({ call, verdict }: JudgedCall, { role, origins }: Provenance): Promise<JudgedCall | undefined> {
    const { store, calls, clock, publish } = this.#parts;
    const { group, session, turn } = this.#scope;
    const { sha256 } = digestInput(askedInput(call, verdict));
    const about = { group: group.name, session: session.id, conversation: turn.conversation, tool: call.name, sha256 };
    const { rule, quorum = 1, approvers = calls.approvers() } = verdict;
    const run = await this.#runOf({ call, verdict });
    const bound = { rule, role, quorum, approvers, origins, directory: run?.directory, scripts: run?.scripts ?? [] };
    const grant = await store.approvals.grantFor({ ...about, ...bound, now: clock.now() });
    if (!grant) return undefined;
    const { code, scope, id, by } = grant;
    const data = { code, call: call.id, tool: call.name, sha256, scope, grant: id, by };
    await publish({ type: "approval.used", ...turnIdsOf(this.#scope), actor: "host", data });
    return { call, verdict, approved: run && approvedCommand(run) };
  }

  /** Folder and scripts of a command now; undefined for other calls. */
  async #runOf({ call, verdict }: JudgedCall): Promise<ShownRun | undefined> {
    const command = commandOf(call, verdict);
    if (command === undefined) return undefined;
    const directory = this.#directory;
    const paths = (await scriptsIn(command)).slice(0, maxScripts);
    return { directory, scripts: paths.length === 0 ? [] : await this.#scripts.read(directory, paths) };
  }

  async #prepareAsks({ asked, origins }: JudgedCalls) {
    const { group, turn } = this.#scope;
    const asks = [];
    for (const one of asked) {
      const ask = await this.#parts.calls.ask(group, turn.id, { ...one, origins, run: await this.#runOf(one) });
      const { code, call, tool, sha256, risk, rule, asker, approvers, quorum, expiresAt } = ask.approval;
      const data = { code, call, tool, sha256, risk, rule, asker: asker.id, approvers, quorum, expiresAt };
      await this.#parts.publish({ type: "approval.asked", ...turnIdsOf(this.#scope), actor: "model", data });
      asks.push(ask);
    }
    return asks;
  }

  /** Splits calls as decided: exactly what was shown may run. Rules are not applied again. */
  async #decided(
    { answer, denied, verdicts = [] }: Extract<StepBody, { kind: "model" }>,
    approvals: readonly Approval[],
  ): Promise<JudgedCalls> {
    const tools = await this.#parts.conversation.toolsOf(this.#scope);
    const refused = new Set(denied.map(({ callId }) => callId));
    const byCall = new Map(approvals.map((approval) => [approval.call, approval]));
    const byPeople = new Map(deniedIn(answer, approvals).map(({ call, reason }) => [call.id, reason.text]));
    const allowed: JudgedCall[] = [];
    const deniedNow: DeniedCall[] = [];
    for (const call of answer.toolCalls.filter(({ id }) => !refused.has(id))) {
      const verdict = verdicts.find(({ callId }) => callId === call.id) ?? unknownVerdict;
      const reason = byPeople.get(call.id) ?? mismatch({ call, verdict }, byCall.get(call.id));
      if (reason === undefined)
        allowed.push({ call, verdict, approved: allowedCommand({ call, verdict }, byCall.get(call.id)) });
      else deniedNow.push({ call, verdict, reason });
    }
    return { allowed, asked: [], denied: deniedNow, origins: (await tools.provenance()).origins };
  }

  async #publishUse(allowed: readonly JudgedCall[], approval: Approval): Promise<void> {
    const { code, call, tool, sha256, scope = "once", decider } = approval;
    if (!allowed.some((one) => one.call.id === call)) return;
    const data = { code, call, tool, sha256, scope, grant: undefined, by: decider?.actor ?? "host" };
    await this.#parts.publish({ type: "approval.used", ...turnIdsOf(this.#scope), actor: "host", data });
  }

  /** The host's own are not the agent's. */
  async #give(allowed: readonly JudgedCall[]): Promise<GivenCall[]> {
    const step = (await this.#steps.last())?.seq;
    const given = allowed.filter(({ call }) => !isSpawn(call));
    this.#given = { step, ids: new Set(given.map(({ call }) => call.id)) };
    return given.map((one) => asGiven(one.call, { ...one.verdict, approved: one.approved }));
  }
}

function withDenied(judged: JudgedCalls, more: readonly DeniedCall[]): JudgedCalls {
  if (more.length === 0) return judged;
  const refused = new Set(more.map(({ call }) => call));
  return {
    ...judged,
    allowed: judged.allowed.filter(({ call }) => !refused.has(call)),
    denied: [...judged.denied, ...more],
  };
}

/** A call that is a command is the agent's as the very command that was judged, whatever its skill says by now. */
function asGiven(call: ToolCall, { command, approved }: Pick<CallVerdict, "command" | "approved">): GivenCall {
  const given = command ? { ...call, name: shellTool, input: command } : call;
  return approved ? { ...given, approved } : given;
}

function commandOf({ name, input }: ToolCall, { command }: Pick<Verdict, "command">): string | undefined {
  if (command) return command.command;
  if (name !== shellTool || typeof input !== "object" || input === null || !("command" in input)) return undefined;
  return typeof input.command === "string" ? input.command : undefined;
}

function approvedCommand({ directory, scripts = [] }: Pick<Approval, "directory" | "scripts">): ApprovedCommand {
  const digests = scripts.map(({ path, sha256 }) => ({ path, ...(sha256 !== undefined && { sha256 }) }));
  return { ...(directory !== undefined && { directory }), ...(digests.length > 0 && { scripts: digests }) };
}

/** The command that people have allowed; undefined for a call that was not asked about, or is no command. */
function allowedCommand({ call, verdict }: JudgedCall, approval: Approval | undefined): ApprovedCommand | undefined {
  return approval && commandOf(call, verdict) !== undefined ? approvedCommand(approval) : undefined;
}

/** Verdict for a step stored without verdicts. */
const unknownVerdict: Omit<CallVerdict, "callId"> = { action: "ask", risk: "high", rule: "unknown" };

function deniedIn(
  answer: ModelAnswer,
  approvals: readonly Approval[],
): { readonly call: ToolCall; readonly reason: Sourced }[] {
  return approvals.flatMap((approval) => {
    const call = answer.toolCalls.find(({ id }) => id === approval.call);
    if (!call || approval.state === "allowed") return [];
    return [{ call, reason: denialForModel(approval) }];
  });
}

/** Returns why a call differs from the one that people saw. */
function mismatch({ call, verdict }: JudgedCall, approval: Approval | undefined): string | undefined {
  const { sha256 } = digestInput(askedInput(call, verdict));
  const isSame = !approval || (approval.tool === call.name && approval.sha256 === sha256);
  return isSame ? undefined : "It is not what people have allowed.";
}
