import type { ModelUsage, StopReason } from "../../domain/model.ts";
import type { ExecutionPointChange } from "../../domain/mount.ts";
import type { Origin } from "../../domain/origin.ts";
import type { Action, Risk } from "../../domain/policy.ts";
import type { Turn, TurnTimes } from "../../domain/turn.ts";
import type { ApprovalView } from "../approvals/approval-view.ts";

export interface WaitingView {
  readonly group: string;
  readonly messages: number;
  readonly oldestAt: number;
}

/** A turn, and what waits in its group for the next one or for the next step of this one. */
export interface TurnView extends Turn {
  readonly waiting: Omit<WaitingView, "group"> | undefined;
}

/** A turn that people have to answer before it goes on. */
export interface ParkedTurn {
  readonly turn: string;
  readonly group: string;
  /** Codes of its open questions. */
  readonly waitsFor: readonly string[];
}

/** A turn in a list: with what it is about and what it cost. */
export interface TurnLine extends TurnView {
  /** Codes of what people have to answer before it goes on; undefined: it does not wait for them. */
  readonly waitsFor: readonly string[] | undefined;
  /** Id of the agent whose turn it is; undefined: its session is not kept any more. */
  readonly agent: string | undefined;
  /** Who asked; undefined when no message made it begin, or when it is not kept any more. */
  readonly member: string | undefined;
  /** First line of the message or the work that made it begin, shortened. */
  readonly question: string | undefined;
  /** US dollars for the answers of models; undefined when a price is not known or the answers are not kept any more. */
  readonly usd: number | undefined;
}

/** What the answers of a turn's models took, in tokens. The first three together are what the models were shown. */
export interface TurnUsage {
  /** Read from the vendor's prompt cache. */
  readonly cached: number;
  readonly uncached: number;
  /** Written to the vendor's prompt cache, as far as it says so. */
  readonly written: number;
  readonly output: number;
  /** Undefined when a price is not known. */
  readonly usd: number | undefined;
}

/** Everything that happened in a turn, in order, texts shortened. */
export interface TurnReport {
  readonly turn: TurnView;
  readonly elapsedMs: number | undefined;
  /** Where the time went, in milliseconds; as far as it is known. */
  readonly times: TurnTimes;
  readonly messages: readonly {
    readonly id: string;
    readonly sender: string;
    readonly text: string;
    readonly receivedAt: number;
    /** Too old: its text and its sender's name are not kept any more. */
    readonly pruned?: boolean | undefined;
  }[];
  readonly steps: readonly StepView[];
  /** Calls that people were asked about. */
  readonly approvals: readonly ApprovalView[];
  /** Files in the group's mounts that programs on the host run by themselves, and that the turn has added, changed or removed. */
  readonly executionPoints: readonly (ExecutionPointChange & { readonly at: number })[];
  readonly usage: TurnUsage;
  /** What the turn has read, or its conversation before it; undefined: it was not kept at that time. */
  readonly origins: readonly Origin[] | undefined;
  /** The agent answered that it had nothing to say in the chat. */
  readonly silent?: true | undefined;
  /** Too old: its steps are not kept any more, nor what they used. */
  readonly pruned?: boolean | undefined;
}

interface StepTime {
  readonly seq: number;
  readonly at: number;
  /** Milliseconds since the turn began. */
  readonly afterMs: number;
}

export type StepView =
  | (StepTime & { readonly kind: "user"; readonly text: string })
  | (StepTime & {
      readonly kind: "model";
      readonly model: string;
      readonly stop: StopReason;
      readonly usage: ModelUsage;
      readonly text: string;
      readonly toolCalls: readonly ToolCallView[];
      readonly denied: readonly ToolResultView[];
    })
  | (StepTime & { readonly kind: "tools"; readonly results: readonly ToolResultView[] });

/** A call, its input shortened, with what was decided about it; undefined where that was not kept. */
export interface ToolCallView {
  readonly id: string;
  readonly name: string;
  readonly input: string;
  readonly action: Action | undefined;
  readonly risk: Risk | undefined;
  readonly rule: string | undefined;
}

export interface ToolResultView {
  readonly callId: string;
  readonly output: string;
  /** Length of the whole output. */
  readonly chars: number;
  readonly isError: boolean;
}
