import { setImmediate } from "node:timers/promises";

import type { ToolCall } from "../../domain/turns/model.ts";
import type { Origin } from "../../domain/people/origin.ts";
import type { NewSubAgent } from "../../domain/work/sub-agent.ts";
import type { ApprovedCommand, Verdict } from "../../domain/rights/policy.ts";
import { isJsonObject } from "../../lib/text/parse-json.ts";
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
    const unread = unreadInput(call);
    const verdict = await tools.judge(unread === undefined ? call : { ...call, input: {} });
    const unfit = unread ?? unfitness({ call, verdict }, allowed.length + asked.length);
    const reason = unfit ?? (await refusal(call));
    const allowedNow = reason === undefined ? await allowedCall({ call, verdict }, granted) : undefined;
    if (reason !== undefined) denied.push({ call, verdict, reason });
    else if (allowedNow) allowed.push(allowedNow);
    else {
      const why = asked.some((other) => other.call.id === call.id) ? sameId : await futility(call);
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

/** Characters that show a model what was wrong with its arguments. */
const shownInput = 300;

const sameId = "Another call of this answer has the same id.";

/** Returns what the model wrote in place of arguments, for it to write them again. */
function unreadInput({ name, input }: ToolCall): string | undefined {
  if (isJsonObject(input)) return undefined;
  const said = typeof input === "string" ? input : JSON.stringify(input);
  return `${name} was not run, because its arguments are not a JSON object: ${said.slice(0, shownInput)}`;
}

/** Returns why a call may not run, whatever people say. */
function unfitness({ call, verdict: { action, reason } }: JudgedCall, before: number): string | undefined {
  if (action === "deny") return reason ?? `"${call.name}" is not allowed.`;
  if (before >= limits.toolResults) return `At most ${limits.toolResults} tools can be called at once.`;
  const refusal = refusalOfValue(call.input);
  return refusal === undefined ? undefined : `The input cannot be passed on: ${refusal}.`;
}
