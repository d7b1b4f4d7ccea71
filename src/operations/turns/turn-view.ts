import * as z from "zod";

import { stopReasons, type ModelUsage } from "../../domain/turns/model.ts";
import { origins } from "../../domain/people/origin.ts";
import { actions, risks } from "../../domain/rights/policy.ts";
import { type Turn, turnPhases, turnStates, type TurnTimes } from "../../domain/turns/turn.ts";
import { causes } from "../../domain/work/work.ts";
import { approvalView } from "../approvals/approval-view.ts";
import { lineageView, viewLineage } from "../definition/lineage-view.ts";
import { list, replyTarget, time } from "../definition/schemas.ts";

const waiting = z.strictObject({ messages: z.number(), oldestAt: time });

const times: z.ZodType<TurnTimes> = z.partialRecord(z.enum(turnPhases), z.number()).describe("Milliseconds by phase");

/** A turn, and what waits in its group for the next one or for the next step of this one. */
export const turnView = z.strictObject({
  id: z.string(),
  group: z.string(),
  session: z.string(),
  conversation: z.number(),
  cause: z.enum(causes),
  replyTo: replyTarget,
  state: z.enum(turnStates),
  attempts: z.number().describe("Containers that have worked on it"),
  startedAt: time,
  endedAt: time.optional(),
  reason: z.string().optional(),
  times: times.optional(),
  ...lineageView.shape,
  waiting: waiting.optional(),
});

export type TurnView = z.infer<typeof turnView>;

/** Returns a turn as operators see it. */
export function viewTurn({ lineage, ...turn }: Turn, waits: TurnView["waiting"]): TurnView {
  return { ...turn, ...viewLineage(lineage), waiting: waits };
}

/** A turn in a list: with its question and its cost. */
export const turnLine = turnView.extend({
  waitsFor: list(z.string()).optional().describe("Codes of approvals that it waits for"),
  agent: z.string().optional(),
  member: z.string().optional().describe("The sender of the message that made it begin"),
  question: z.string().optional().describe("First line of what made it begin, shortened"),
  usd: z.number().optional().describe("Absent: a price is unknown, or the answers are no longer kept"),
});

export type TurnLine = z.infer<typeof turnLine>;

const modelUsage: z.ZodType<ModelUsage> = z.strictObject({
  inputTokens: z.number(),
  cachedInputTokens: z.number(),
  writtenInputTokens: z.number().optional(),
  outputTokens: z.number(),
  isEstimate: z.literal(true).optional(),
});

const toolResultView = z.strictObject({
  callId: z.string(),
  output: z.string(),
  chars: z.number().describe("Length of the whole output"),
  isError: z.boolean(),
});

export type ToolResultView = z.infer<typeof toolResultView>;

const toolCallView = z.strictObject({
  id: z.string(),
  name: z.string(),
  input: z.string().describe("Shortened"),
  action: z.enum(actions).optional(),
  risk: z.enum(risks).optional(),
  rule: z.string().optional(),
});

export type ToolCallView = z.infer<typeof toolCallView>;

const stepTime = { seq: z.number(), at: time, afterMs: z.number().describe("Since the turn began") };

const stepView = z.discriminatedUnion("kind", [
  z.strictObject({ ...stepTime, kind: z.literal("user"), text: z.string() }),
  z.strictObject({
    ...stepTime,
    kind: z.literal("model"),
    model: z.string(),
    stop: z.enum(stopReasons),
    usage: modelUsage,
    text: z.string(),
    toolCalls: list(toolCallView),
    denied: list(toolResultView),
  }),
  z.strictObject({ ...stepTime, kind: z.literal("tools"), results: list(toolResultView) }),
]);

export type StepView = z.infer<typeof stepView>;

/** Tokens of a turn's model answers. The first three together are what the models were shown. */
const turnUsage = z.strictObject({
  cached: z.number().describe("Read from the vendor's prompt cache"),
  uncached: z.number(),
  written: z.number().describe("Written to the vendor's prompt cache, as far as it says so"),
  output: z.number(),
  usd: z.number().optional().describe("Absent: a price is unknown"),
});

export type TurnUsage = z.infer<typeof turnUsage>;

/** Everything that happened in a turn, in order, texts shortened. */
export const turnReport = z.strictObject({
  turn: turnView,
  elapsedMs: z.number().optional(),
  times,
  messages: list(
    z.strictObject({
      id: z.string(),
      sender: z.string(),
      text: z.string(),
      receivedAt: time,
      pruned: z.boolean().optional().describe("Too old: its text and its sender's name are no longer kept"),
    }),
  ),
  steps: list(stepView),
  approvals: list(approvalView),
  executionPoints: list(
    z.strictObject({
      target: z.string(),
      path: z.string(),
      kind: z.string(),
      change: z.enum(["added", "changed", "removed"]),
      at: time,
    }),
  ).describe("Files in mounts that programs on the host run by themselves, and that the turn has changed"),
  usage: turnUsage,
  origins: list(z.enum(origins)),
  silent: z.literal(true).optional().describe("The agent had nothing to say in the chat"),
  pruned: z.boolean().optional().describe("Too old: its steps are no longer kept"),
});

export type TurnReport = z.infer<typeof turnReport>;
