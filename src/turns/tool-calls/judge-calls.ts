import { setImmediate } from "node:timers/promises";

import type { ToolCall } from "../../domain/turns/model.ts";
import type { Origin } from "../../domain/people/origin.ts";
import type { NewSubAgent } from "../../domain/work/sub-agent.ts";
import type { ApprovedCommand, Verdict } from "../../domain/rights/policy.ts";
import { limits } from "../../protocol/limits.ts";
import { refusalOfValue } from "../../protocol/mailbox-file.ts";
import type { TurnTools } from "../../tools/conversation-tools.ts";

/** A call of the model's with what the policy says of it. */
export interface JudgedCall {
  readonly call: ToolCall;
  readonly verdict: Verdict;
  /** A command that people have allowed: how it runs. */
  readonly approved?: ApprovedCommand | undefined;
}

/** A call that does not run, with why, for the model. */
export interface DeniedCall extends JudgedCall {
  readonly reason: string;
}

export interface JudgedCalls {
  readonly allowed: readonly JudgedCall[];
  /** People have to allow them first. */
  readonly asked: readonly JudgedCall[];
  readonly denied: readonly DeniedCall[];
  /** Origins of the turn when they were judged. */
  readonly origins: readonly Origin[];
}

/** Calls of an answer that make sub-agents, as far as they can. */
export interface PreparedSpawns {
  readonly spawns: readonly NewSubAgent[];
  /** Calls that are not what makes one, with why. */
  readonly denied: readonly DeniedCall[];
}

/**
 * Judges an answer's calls in order: which run, and which do not. `granted`: the call as a grant
 * covers it. `refusal`: why the turn may not do that to this thing. `futility`: why people need not be asked.
 */
export async function judgeCalls(
  calls: readonly ToolCall[],
  tools: Pick<TurnTools, "judge" | "provenance">,
  {
    granted,
    refusal,
    futility,
  }: {
    readonly refusal: (call: ToolCall) => Promise<string | undefined>;
    readonly granted: (judged: JudgedCall) => Promise<JudgedCall | undefined>;
    readonly futility: (call: ToolCall) => Promise<string | undefined>;
  },
): Promise<JudgedCalls> {
  const allowed: JudgedCall[] = [];
  const asked: JudgedCall[] = [];
  const denied: DeniedCall[] = [];
  for (const [index, call] of calls.entries()) {
    // Others go on between calls that take long to judge.
    if (index > 0) await setImmediate();
    const verdict = await tools.judge(call);
    const reason = refusalOf(call, verdict) ?? unfitness(call, allowed.length + asked.length) ?? (await refusal(call));
    const allowedNow = reason === undefined ? await allowedCall({ call, verdict }, granted) : undefined;
    if (reason !== undefined) denied.push({ call, verdict, reason });
    else if (allowedNow) allowed.push(allowedNow);
    else if (asked.some((other) => other.call.id === call.id)) denied.push({ call, verdict, reason: sameId });
    else {
      const why = await futility(call);
      if (why === undefined) asked.push({ call, verdict });
      else denied.push({ call, verdict, reason: why });
    }
  }
  return { allowed, asked, denied, origins: calls.length === 0 ? [] : (await tools.provenance()).origins };
}

async function allowedCall(
  judged: JudgedCall,
  granted: (judged: JudgedCall) => Promise<JudgedCall | undefined>,
): Promise<JudgedCall | undefined> {
  return judged.verdict.action === "allow" ? judged : granted(judged);
}

const sameId = "Another call of this answer has the same id.";

/** Returns why a call may not run, whatever people say. */
function refusalOf({ name }: ToolCall, { action, reason }: Verdict): string | undefined {
  return action === "deny" ? (reason ?? `"${name}" is not allowed.`) : undefined;
}

function unfitness({ input }: ToolCall, before: number): string | undefined {
  if (before >= limits.toolResults) return `At most ${limits.toolResults} tools can be called at once.`;
  const refusal = refusalOfValue(input);
  return refusal === undefined ? undefined : `The input cannot be passed on: ${refusal}.`;
}
