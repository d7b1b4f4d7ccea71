import type { ApprovalScope, ApprovalState, ChangeOutcome, Grant, StandingQuestion } from "../../domain/approval.ts";

/** A call that people are or were asked about. Times are milliseconds since 1970. */
export interface ApprovalView {
  readonly code: string;
  readonly group: string;
  /** What it is about; left out: a call of a turn's. */
  readonly about?: StandingQuestion | undefined;
  /** This, `session` and `call` are of a call of a turn's. */
  readonly turn: string | undefined;
  /** The one whose agent asks: `sessions list` says which that is. */
  readonly session: string | undefined;
  readonly call: string;
  readonly tool: string;
  /** All of it; `sha256` is of its canonical JSON. */
  readonly input: unknown;
  readonly sha256: string;
  /** The rule that asks. */
  readonly reason: string;
  readonly risk: string;
  /** `<channel>:<sender id>`, or `operator`. */
  readonly asker: string;
  readonly approvers: string;
  readonly quorum: number;
  readonly votes: number;
  readonly askedAt: number;
  readonly expiresAt: number;
  readonly state: ApprovalState;
  readonly scope: ApprovalScope | undefined;
  readonly decidedAt: number | undefined;
  readonly decidedBy: string | undefined;
  /** What who denied it said. */
  readonly answer: string | undefined;
  readonly usedAt: number | undefined;
  /** Of a call that proposes to change a file of the operator's: all of what it would change. */
  readonly diff?: string | undefined;
  /** What has become of it, once it was allowed. */
  readonly outcome?: ChangeOutcome | undefined;
}

/** Calls that need not be asked again. */
export interface GrantView {
  readonly id: string;
  /** Of the approval that it comes from. */
  readonly code: string;
  readonly group: string;
  readonly tool: string;
  readonly input: unknown;
  readonly sha256: string;
  readonly scope: Grant["scope"];
  readonly decidedBy: string;
  readonly decidedAt: number;
  readonly expiresAt: number | undefined;
  readonly state: "allowed" | "revoked";
}

/** What the operator does with calls that people are asked about. */
export interface ApprovalOperations {
  /** Calls that people are asked about, with `all` also decided ones, newest first; then what was allowed for longer. */
  listApprovals(filter: {
    readonly group?: string | undefined;
    readonly all: boolean;
  }): Promise<readonly (ApprovalView | GrantView)[]>;
  showApproval(code: string): Promise<ApprovalView>;
  /** As the operator. Rejects with `conflict` where it was decided before, with `expired` where the time is over. */
  answerApproval(
    code: string,
    answer: {
      readonly allow: boolean;
      readonly scope?: ApprovalScope | undefined;
      readonly reason?: string | undefined;
      /** What a form asks for: `name=value …`, or JSON. */
      readonly values?: string | undefined;
    },
  ): Promise<ApprovalView>;
  /** Takes back what was allowed for longer; calls that have begun go on. */
  revokeApproval(id: string): Promise<GrantView>;
}
