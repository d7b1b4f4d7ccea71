import type { ModelAnswer, ToolResult } from "./model.ts";
import type { BlobPart, UserContent } from "../chats/part.ts";
import { isBlob, partsOf } from "../chats/part.ts";
import type { Lineage } from "../rights/lineage.ts";
import type { CallVerdict } from "../rights/policy.ts";
import type { Cause, ReplyTarget } from "../work/work.ts";

/** `running → done | failed | cancelled`; the last three are final. */
export const turnStates = ["running", "done", "failed", "cancelled"] as const;

export type TurnState = (typeof turnStates)[number];

/**
 * Phases of a turn: `queue` until it begins, `container`, `context` to build the prompt and store, the `model`, `tools`
 * with their transport, `mailbox` between host and agent, `send` until the channel has the reply.
 */
export const turnPhases = ["queue", "container", "context", "model", "tools", "mailbox", "send"] as const;

export type TurnPhase = (typeof turnPhases)[number];

/** Milliseconds by phase. */
export type TurnTimes = Readonly<Partial<Record<TurnPhase, number>>>;

/** From what made it begin to the reply. */
export interface Turn {
  readonly id: string;
  readonly group: string;
  readonly session: string;
  /** Rises with each `/new`; history never crosses it. */
  readonly conversation: number;
  readonly cause: Cause;
  readonly replyTo: ReplyTarget;
  readonly state: TurnState;
  /** Number of containers used: 1, or 2 after the first one died. */
  readonly attempts: number;
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  /** Reason of the failure or cancellation, as told in the chat. */
  readonly reason: string | undefined;
  /** Times measured by the host that ended the turn; undefined while it runs or when it ended without work. */
  readonly times?: TurnTimes | undefined;
  /** Lineage of all that it answers so far; its origins are those that it or its conversation before it has read. */
  readonly lineage: Lineage;
}

/** When a turn began and ended, and who made it begin. */
export interface PacedTurn {
  readonly id: string;
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  /** When the first of its messages came in, and who sent them; undefined and empty where it is not known anymore. */
  readonly firstAt: number | undefined;
  readonly senders: readonly string[];
}

/** One thing that happened in a turn, stored before it is acted on. */
export type StepBody =
  | ({ readonly kind: "user" } & UserContent)
  | {
      readonly kind: "model";
      readonly answer: ModelAnswer;
      readonly denied: readonly ToolResult[];
      /** Ids of the calls that people were asked about; absent: none. */
      readonly asked?: readonly string[] | undefined;
      /** Verdicts of the calls; undefined when there are none or in older rows. */
      readonly verdicts?: readonly CallVerdict[] | undefined;
    }
  | { readonly kind: "tools"; readonly results: readonly ToolResult[] };

/** `seq` orders the steps of a session; `tokens` is our estimate of what the step adds to the prompt. */
export interface Step {
  readonly seq: number;
  readonly turn: string;
  readonly at: number;
  readonly tokens: number;
  readonly body: StepBody;
}

/** Blobs that a step refers to, in order, repetitions included. */
export function blobsOf(body: StepBody): readonly BlobPart[] {
  if (body.kind === "model") return [];
  const contents = body.kind === "user" ? [body] : body.results;
  return contents.flatMap((content) => partsOf(content).filter(isBlob));
}
