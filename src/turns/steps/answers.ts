import type { ModelAnswer } from "../../domain/turns/model.ts";
import type { Step } from "../../domain/turns/turn.ts";
import { ofHost } from "../../domain/rights/sourced.ts";
import type { GivenResult } from "./result-parts.ts";
import type { NewStep } from "../../stores/contract/store.ts";
import { type SourcedStep, stepOf } from "./sourced-step.ts";
import type { JudgedCall, JudgedCalls } from "../tool-calls/judge-calls.ts";

/**
 * The model's answer as a step, with what was decided about its calls, in the host's words. `exposure`: what the calls
 * that may run come into contact with.
 */
export function answerStep(
  answer: ModelAnswer,
  { allowed, asked, denied }: Pick<JudgedCalls, "allowed" | "asked" | "denied">,
  { exposure, ...about }: Pick<NewStep, "exposure" | "at" | "asks" | "spawns">,
): SourcedStep {
  const all: readonly JudgedCall[] = [...allowed, ...asked, ...denied];
  const verdicts = all.map(({ call, verdict: { action, risk, rule, command }, approved }) => ({
    callId: call.id,
    action,
    risk,
    rule,
    ...(command && { command }),
    ...(approved && { approved }),
  }));
  const refusals = denied.map(({ call, reason }) => ({ callId: call.id, output: reason, isError: true }));
  const body = {
    kind: "model",
    answer,
    denied: refusals,
    ...(verdicts.length > 0 && { verdicts }),
    ...(asked.length > 0 && { asked: asked.map(({ call }) => call.id) }),
  } as const;
  return stepOf(body, exposure, about);
}

/** The last answer of a turn; one that is not what it could have been says so. */
export function finalAnswer({ text, stop }: ModelAnswer): Pick<ModelAnswer, "text" | "toolCalls"> {
  const remarks = {
    length: "[The answer was cut: the model had reached its output limit.]",
    refusal: "[The model declined.]",
  };
  const remark = stop === "length" || stop === "refusal" ? remarks[stop] : "";
  return { text: [text, remark].filter((part) => part.trim() !== "").join("\n\n"), toolCalls: [] };
}

/** The answer that a turn has come to; undefined when its last step is something else. */
export function lastAnswer(last: Step | undefined): Pick<ModelAnswer, "text" | "toolCalls"> | undefined {
  const body = last?.body;
  return body?.kind === "model" && body.answer.toolCalls.length === 0 ? finalAnswer(body.answer) : undefined;
}

/** The result of a call that had begun and of which nothing more is known. */
export function interrupted(callId: string): GivenResult {
  return { callId, output: "interrupted, result unknown", isError: true, sources: ofHost`` };
}
