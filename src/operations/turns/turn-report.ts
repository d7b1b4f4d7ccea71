import type { OutgoingMessage, StoredMessage } from "../../domain/chats/message.ts";
import type { ModelUsage, ToolResult } from "../../domain/turns/model.ts";
import { describeParts, partsOf } from "../../domain/chats/part.ts";
import { isSilent } from "../../domain/chats/silence.ts";
import type { Step, TurnTimes } from "../../domain/turns/turn.ts";
import { shorten } from "../../lib/text/visible.ts";
import type { StepView, ToolResultView, TurnReport, TurnUsage, TurnView } from "./turn-view.ts";

interface TurnOptions {
  readonly messages: readonly StoredMessage[];
  readonly steps: readonly Step[];
  /** Rows of the outbox. */
  readonly said: readonly OutgoingMessage[];
  readonly approvals: TurnReport["approvals"];
  readonly executionPoints: TurnReport["executionPoints"];
  /** US dollars; undefined when the model's price is not known. */
  readonly costOf: (model: string, usage: ModelUsage) => number | undefined;
}

/**
 * A turn as an operator reads it: when each step happened, which model said what, which tools ran and what came out.
 */
export function reportTurn(
  turn: TurnView,
  { messages, steps, said, approvals, executionPoints, costOf }: TurnOptions,
  maxChars: number,
): TurnReport {
  return {
    turn,
    elapsedMs: turn.endedAt === undefined ? undefined : turn.endedAt - turn.startedAt,
    times: { ...turn.times, ...sendTime(turn, said) },
    messages: messages.map((message) => ({
      id: message.id,
      sender: message.sender.name,
      text: shorten(message.text, maxChars),
      receivedAt: message.receivedAt,
      pruned: message.pruned,
    })),
    steps: steps.map((step) => viewStep(turn, step, maxChars)),
    approvals,
    executionPoints,
    usage: totalUsage(steps, costOf),
    origins: turn.origins,
    silent: isSilentTurn(turn, steps) ? true : undefined,
    // Every turn begins with a step.
    pruned: steps.length === 0 ? true : undefined,
  };
}

function isSilentTurn({ state, replyTo }: TurnView, steps: readonly Step[]): boolean {
  const last = steps.at(-1)?.body;
  if (state !== "done" || replyTo.kind !== "chat" || last?.kind !== "model") return false;
  return last.answer.toolCalls.length === 0 && isSilent(last.answer.text);
}

/** From the end of the turn until the channel had its reply. */
function sendTime({ endedAt }: TurnView, said: readonly OutgoingMessage[]): TurnTimes {
  const acceptedAt = said.at(-1)?.acceptedAt;
  return endedAt === undefined || acceptedAt === undefined ? {} : { send: Math.max(0, acceptedAt - endedAt) };
}

function viewStep(turn: TurnView, step: Step, maxChars: number): StepView {
  const time = { seq: step.seq, at: step.at, afterMs: step.at - turn.startedAt };
  const { body } = step;
  if (body.kind === "user") return { ...time, kind: "user", text: shorten(describeParts(partsOf(body)), maxChars) };
  if (body.kind === "tools") {
    return { ...time, kind: "tools", results: body.results.map((result) => viewResult(result, maxChars)) };
  }
  const { answer, denied, verdicts } = body;
  return {
    ...time,
    kind: "model",
    model: answer.model,
    stop: answer.stop,
    usage: answer.usage,
    text: shorten(answer.text, maxChars),
    toolCalls: answer.toolCalls.map(({ id, name, input }) => {
      const { action, risk, rule } = verdicts?.find(({ callId }) => callId === id) ?? {};
      return { id, name, input: shorten(JSON.stringify(input ?? null), maxChars), action, risk, rule };
    }),
    denied: denied.map((result) => viewResult(result, maxChars)),
  };
}

function viewResult(result: ToolResult, maxChars: number): ToolResultView {
  const { callId, isError } = result;
  const output = describeParts(partsOf(result));
  return { callId, output: shorten(output, maxChars), chars: output.length, isError };
}

function totalUsage(steps: readonly Step[], costOf: TurnOptions["costOf"]): TurnUsage {
  let [cached, uncached, written, output] = [0, 0, 0, 0];
  let usd: number | undefined = 0;
  for (const { body } of steps) {
    if (body.kind !== "model") continue;
    const { model, usage } = body.answer;
    const { inputTokens, cachedInputTokens, writtenInputTokens = 0, outputTokens } = usage;
    cached += cachedInputTokens;
    written += writtenInputTokens;
    uncached += inputTokens - cachedInputTokens - writtenInputTokens;
    output += outputTokens;
    const cost = costOf(model, usage);
    usd = usd === undefined || cost === undefined ? undefined : usd + cost;
  }
  return { cached, uncached, written, output, usd };
}
