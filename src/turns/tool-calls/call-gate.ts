import { digestInput, type AskedCall } from "../../approvals/asking.ts";
import { denialForModel } from "../../approvals/words.ts";
import type { Approval } from "../../domain/approval.ts";
import type { ModelAnswer, ToolCall } from "../../domain/model.ts";
import type { Step } from "../../domain/turn.ts";
import { limits } from "../../protocol/limits.ts";
import { refusalOfValue } from "../../protocol/mailbox-file.ts";
import type { AgentToolResult } from "../../protocol/messages.ts";
import type { TurnTools } from "../../tools/conversation-tools.ts";
import type { TurnSteps } from "../steps/turn-steps.ts";
import { placeOf } from "../turn-options.ts";
import type { TurnOptions, TurnScope } from "../turn-options.ts";
import { publishToolCalls } from "./tool-events.ts";

/** A call that may not run, and why, for the model. */
interface DeniedCall {
  readonly call: ToolCall;
  readonly reason: string;
}

/** The calls of an answer, by what may happen to them. */
interface Judged {
  readonly allowed: ToolCall[];
  readonly asked: AskedCall[];
  readonly denied: DeniedCall[];
}

/** An answer with the calls of it that the agent is given. */
type Given = Pick<ModelAnswer, "text" | "toolCalls">;

/**
 * Decides which calls of the model's answers reach the agent. Where people have to be asked, none of the answer does before all
 * of them are decided, and then once: that they are given out is noted before they are.
 */
export class CallGate {
  readonly #scope: TurnScope;
  readonly #options: TurnOptions;
  readonly #steps: TurnSteps;
  /** What the agent was given of the last answer, and its step. */
  #given: { readonly step: number | undefined; readonly ids: ReadonlySet<string> } = {
    step: undefined,
    ids: new Set(),
  };
  /** Calls that people allowed, and that may not run any more. */
  #withdrawn: readonly DeniedCall[] = [];

  constructor(scope: TurnScope, options: TurnOptions, steps: TurnSteps) {
    this.#scope = scope;
    this.#options = options;
    this.#steps = steps;
  }

  /** Was the call of this step given to the agent that works now? */
  wasGiven(step: number | undefined, callId: string): boolean {
    return step !== undefined && this.#given.step === step && this.#given.ids.has(callId);
  }

  /** Stores the answer with what was decided about its calls, and returns those that may run now. `asked`: people were asked. */
  async judge(answer: ModelAnswer): Promise<readonly ToolCall[] | "asked"> {
    const judged = await this.#judgeCalls(answer);
    const { allowed, denied, asked } = judged;
    const asks = await this.#prepareAsks(asked);
    await this.#steps.addNow(
      {
        kind: "model",
        answer,
        denied: denied.map(({ call, reason }) => ({ callId: call.id, output: reason, isError: true })),
        ...(asked.length > 0 && { asked: asked.map(({ call }) => call.id) }),
      },
      asks,
    );
    if (asked.length > 0) {
      await publishToolCalls(this.#scope, this.#options, { allowed: [], denied });
      this.#options.deliver();
      this.#options.asked();
      return "asked";
    }
    if (answer.toolCalls.length > 0) await publishToolCalls(this.#scope, this.#options, { allowed, denied });
    return this.#give(allowed);
  }

  /**
   * What the agent is given of an answer about which people have decided since. `asked`: they have not yet. Undefined for any
   * other step, and for one whose calls were given out before: nobody knows what became of those.
   */
  async release(last: Step | undefined): Promise<Given | "asked" | undefined> {
    if (last?.body.kind !== "model" || last.body.asked === undefined) return undefined;
    const { store, clock } = this.#options;
    const before = await store.approvals.ofStep(last.seq);
    if (before.some(({ state }) => state === "open")) return "asked";
    if (before.every(({ releasedAt }) => releasedAt !== undefined)) return undefined;
    const { answer, denied } = last.body;
    const { allowed, withdrawn } = await this.#stillAllowed(answer, { approvals: before, denied });
    for (const approval of before) await this.#publishUse(allowed, approval);
    await publishToolCalls(this.#scope, this.#options, {
      allowed,
      denied: [...deniedIn(answer, before), ...withdrawn],
    });
    // From here on the calls have begun: after a crash nobody knows what became of them.
    const released = await store.approvals.release(last.seq, clock.now(), this.#scope.lease);
    if (!released) return undefined;
    this.#withdrawn = withdrawn;
    return { text: answer.text, toolCalls: await this.#give(allowed) };
  }

  /** Results of the calls of this step that people did not allow. */
  async denials(last: Step): Promise<readonly AgentToolResult[]> {
    if (last.body.kind !== "model" || last.body.asked === undefined) return [];
    const approvals = await this.#options.store.approvals.ofStep(last.seq);
    const denied = [...deniedIn(last.body.answer, approvals), ...this.#withdrawn];
    return denied.map(({ call, reason }) => ({ callId: call.id, output: reason, isError: true }));
  }

  async #judgeCalls(answer: ModelAnswer): Promise<Judged> {
    const judged: Judged = { allowed: [], asked: [], denied: [] };
    const tools = await this.#options.toolsOf(this.#scope);
    const seen = new Set<string>();
    for (const call of answer.toolCalls) {
      const isRepeated = seen.has(call.id);
      seen.add(call.id);
      const refusal = refusalOf(call, tools, judged.allowed.length + judged.asked.length);
      const decision = tools.judge(call);
      if (refusal !== undefined) judged.denied.push({ call, reason: refusal });
      else if (decision.verdict !== "ask" || (await this.#isGranted(call))) judged.allowed.push(call);
      else if (isRepeated) judged.denied.push({ call, reason: "Another call of this answer has the same id." });
      else judged.asked.push({ call, decision });
    }
    return judged;
  }

  /** Have people allowed all calls like this before? Puts on record that it is used. */
  async #isGranted(call: ToolCall): Promise<boolean> {
    const { store, clock, publish } = this.#options;
    const { group, session, turn } = this.#scope;
    const { sha256 } = digestInput(call.input);
    const about = { group: group.name, session: session.id, conversation: turn.conversation, tool: call.name, sha256 };
    const grant = await store.approvals.grantFor({ ...about, now: clock.now() });
    if (!grant) return false;
    const { code, scope, id, by } = grant;
    const data = { code, call: call.id, tool: call.name, sha256, scope, grant: id, by };
    await publish({ type: "approval.used", ...placeOf(this.#scope), actor: "host", data });
    return true;
  }

  async #prepareAsks(asked: readonly AskedCall[]) {
    const { group, turn } = this.#scope;
    const asks = [];
    for (const one of asked) {
      const ask = await this.#options.askPeople(group, turn.id, one);
      const { code, call, tool, sha256, risk, rule, asker, approvers, quorum, expiresAt } = ask.approval;
      const data = { code, call, tool, sha256, risk, rule, asker: asker.id, approvers, quorum, expiresAt };
      await this.#options.publish({ type: "approval.asked", ...placeOf(this.#scope), actor: "model", data });
      asks.push(ask);
    }
    return asks;
  }

  /** What was allowed and may still run, exactly as it was shown; the rules may have changed since. */
  async #stillAllowed(
    answer: ModelAnswer,
    { approvals, denied }: { readonly approvals: readonly Approval[]; readonly denied: readonly { callId: string }[] },
  ): Promise<{ readonly allowed: ToolCall[]; readonly withdrawn: DeniedCall[] }> {
    const tools = await this.#options.toolsOf(this.#scope);
    const refused = new Set([
      ...denied.map(({ callId }) => callId),
      ...deniedIn(answer, approvals).map(({ call }) => call.id),
    ]);
    const byCall = new Map(approvals.map((approval) => [approval.call, approval]));
    const allowed: ToolCall[] = [];
    const withdrawn: DeniedCall[] = [];
    for (const call of answer.toolCalls.filter(({ id }) => !refused.has(id))) {
      const approval = byCall.get(call.id);
      const isAnother =
        approval !== undefined && (approval.tool !== call.name || approval.sha256 !== digestInput(call.input).sha256);
      const refusal = isAnother ? "It is not what people have allowed." : refusalOf(call, tools, allowed.length);
      if (refusal === undefined) allowed.push(call);
      else withdrawn.push({ call, reason: refusal });
    }
    return { allowed, withdrawn };
  }

  async #publishUse(allowed: readonly ToolCall[], approval: Approval): Promise<void> {
    const { code, call, tool, sha256, scope = "once", decider } = approval;
    if (!allowed.some(({ id }) => id === call)) return;
    const data = { code, call, tool, sha256, scope, grant: undefined, by: decider?.actor ?? "host" };
    await this.#options.publish({ type: "approval.used", ...placeOf(this.#scope), actor: "host", data });
  }

  async #give(calls: readonly ToolCall[]): Promise<ToolCall[]> {
    const step = (await this.#steps.last())?.seq;
    this.#given = { step, ids: new Set(calls.map(({ id }) => id)) };
    return [...calls];
  }
}

function deniedIn(answer: ModelAnswer, approvals: readonly Approval[]): DeniedCall[] {
  return approvals.flatMap((approval) => {
    const call = answer.toolCalls.find(({ id }) => id === approval.call);
    return call && approval.state !== "allowed" ? [{ call, reason: denialForModel(approval) }] : [];
  });
}

/** Why a call may not run, whatever people say: by policy, or because it cannot be handed to the agent as it is. */
function refusalOf(call: ToolCall, tools: TurnTools, before: number): string | undefined {
  const decision = tools.judge(call);
  if (decision.verdict === "deny") return decision.reason;
  if (before >= limits.toolResults) return `At most ${limits.toolResults} tools can be called at once.`;
  const refusal = refusalOfValue(call.input);
  return refusal === undefined ? undefined : `The input cannot be passed on: ${refusal}.`;
}
