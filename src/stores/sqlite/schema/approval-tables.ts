import type { Generated } from "kysely";

import type { Actor } from "../../../domain/people/actor.ts";
import type {
  Approval,
  ApprovalScope,
  ApprovalState,
  ChangeOutcome,
  Grant,
  StandingQuestion,
} from "../../../domain/rights/approval.ts";
import type { Role } from "../../../domain/people/role.ts";

export interface ApprovalTable {
  readonly code: string;
  readonly group_name: string;
  readonly channel: string;
  readonly chat: string;
  readonly about: StandingQuestion | "call";
  /** This and what follows: null where it hangs on no turn. */
  readonly session: string | null;
  readonly conversation: number | null;
  readonly turn: string | null;
  readonly step: number | null;
  readonly call_id: string;
  /** The place of the call among those of its answer. */
  readonly position: number;
  readonly tool: string;
  readonly input: string;
  readonly sha256: string;
  readonly risk: Approval["risk"];
  readonly rule: string;
  readonly asker_id: string;
  readonly asker_name: string;
  readonly asker_role: Role;
  readonly approvers: Role;
  readonly quorum: number;
  readonly asked_at: number;
  readonly expires_at: number;
  readonly state: ApprovalState;
  readonly scope: ApprovalScope | null;
  readonly decided_at: number | null;
  readonly decider_actor: Actor | null;
  readonly decider_name: string | null;
  readonly decider_role: Role | null;
  readonly reason: string | null;
  readonly released_at: number | null;
  /** `seq` of the message in the outbox that asks; 0 where the operator alone is asked. */
  readonly card: number;
  readonly told: Generated<number>;
  readonly recorded: Generated<number>;
  readonly diff: string | null;
  readonly base: string | null;
  readonly outcome: ChangeOutcome | null;
  /** JSON; null: it was asked before this was kept. */
  readonly origins: string | null;
}

export interface ApprovalVoteTable {
  readonly code: string;
  readonly person: string;
  readonly scope: ApprovalScope;
  readonly at: number;
}

/** The last reaction of each person to a card, as far as anything came of it. */
export interface CardReactionTable {
  readonly code: string;
  readonly person: string;
  readonly id: string;
  readonly refused: number;
  readonly at: number;
}

export interface GrantTable {
  readonly id: string;
  readonly code: string;
  readonly group_name: string;
  readonly session: string;
  readonly conversation: number;
  readonly tool: string;
  readonly input: string;
  readonly sha256: string;
  readonly scope: Grant["scope"];
  readonly given_by: string;
  readonly at: number;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
}
