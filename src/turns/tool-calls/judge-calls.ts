import type { ToolCall } from "../../domain/model.ts";
import type { Origin } from "../../domain/origin.ts";
import type { Verdict } from "../../domain/policy.ts";
import { limits } from "../../protocol/limits.ts";
import { refusalOfValue } from "../../protocol/mailbox-file.ts";
import type { TurnTools } from "../../tools/conversation-tools.ts";

/** A call of the model's with what the policy says of it. */
export interface JudgedCall {
  readonly call: ToolCall;
  readonly verdict: Verdict;
}

/** A call that does not run, with why, for the model. */
export interface DeniedCall extends JudgedCall {
  readonly reason: string;
}

export interface JudgedCalls {
  readonly allowed: readonly JudgedCall[];
  readonly denied: readonly DeniedCall[];
  /** What the turn had read when they were judged. */
  readonly origins: readonly Origin[];
}

/** Judges the calls of one answer, in their order: which may run, and which may not or cannot be handed to the agent as they are. */
export async function judgeCalls(
  calls: readonly ToolCall[],
  tools: Pick<TurnTools, "judge" | "provenance">,
): Promise<JudgedCalls> {
  const allowed: JudgedCall[] = [];
  const denied: DeniedCall[] = [];
  for (const call of calls) {
    const verdict = await tools.judge(call);
    const reason = refusalOf(call, verdict) ?? unfitness(call, allowed.length);
    if (reason === undefined) allowed.push({ call, verdict });
    else denied.push({ call, verdict, reason });
  }
  return { allowed, denied, origins: calls.length === 0 ? [] : (await tools.provenance()).origins };
}

/** Nobody can be asked: what a person would have to allow is refused. */
function refusalOf({ name }: ToolCall, { action, risk, rule, reason }: Verdict): string | undefined {
  if (action === "allow") return undefined;
  if (action === "deny") return reason ?? `"${name}" is not allowed.`;
  return `This call of "${name}" (risk ${risk}) may only run when a person allows it (${rule}), and nobody can be asked yet. Do without it, or do it in a way that risks less.`;
}

function unfitness({ input }: ToolCall, before: number): string | undefined {
  if (before >= limits.toolResults) return `At most ${limits.toolResults} tools can be called at once.`;
  const refusal = refusalOfValue(input);
  return refusal === undefined ? undefined : `The input cannot be passed on: ${refusal}.`;
}
