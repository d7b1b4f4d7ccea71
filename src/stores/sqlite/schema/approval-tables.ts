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

interface ApprovalTable {
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

interface ApprovalVoteTable {
  readonly code: string;
  readonly person: string;
  readonly scope: ApprovalScope;
  readonly at: number;
}

/** The last reaction of each person to a card, as far as anything came of it. */
interface CardReactionTable {
  readonly code: string;
  readonly person: string;
  readonly id: string;
  readonly refused: number;
  readonly at: number;
}

interface GrantTable {
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

/** Approvals, votes, reactions and grants. */
export interface ApprovalTables {
  readonly approvals: ApprovalTable;
  readonly approval_votes: ApprovalVoteTable;
  readonly card_reactions: CardReactionTable;
  readonly grants: GrantTable;
}

export const approvalSchema = [
  `create table approvals (
     code text primary key,
     about text not null default 'call' check (about in ('call', 'description', 'form')),
     group_name text not null,
     channel text not null,
     chat text not null,
     session text references sessions (id),
     conversation integer,
     turn text references turns (id),
     step integer references steps (seq) on delete cascade,
     call_id text not null,
     position integer not null,
     tool text not null,
     input text not null,
     sha256 text not null,
     risk text not null check (risk in ('low', 'medium', 'high')),
     rule text not null,
     asker_id text not null,
     asker_name text not null,
     asker_role text not null,
     approvers text not null,
     quorum integer not null,
     asked_at integer not null,
     expires_at integer not null,
     state text not null check (state in ('open', 'allowed', 'denied', 'expired', 'cancelled')),
     scope text check (scope in ('once', 'session', 'day', 'always')),
     decided_at integer,
     decider_actor text,
     decider_name text,
     decider_role text,
     reason text,
     released_at integer,
     card integer not null,
     told integer not null default 0,
     recorded integer not null default 0,
     diff text,
     base text,
     outcome text check (outcome in ('writing', 'written', 'changed', 'failed')),
     origins text,
     unique (step, call_id),
     check (about <> 'call' or (session is not null and turn is not null and step is not null))
   ) strict`,
  `create index approvals_by_turn on approvals (turn, step, position)`,
  `create index approvals_by_card on approvals (card)`,
  `create index approvals_open on approvals (asked_at) where state = 'open'`,
  `create index approvals_unrecorded on approvals (asked_at) where recorded = 0`,
  `create index approvals_standing on approvals (about, tool, asked_at) where about <> 'call'`,
  `create table approval_votes (
     code text not null references approvals (code) on delete cascade,
     person text not null,
     scope text not null,
     at integer not null,
     primary key (code, person)
   ) strict, without rowid`,
  `create table card_reactions (
     code text not null references approvals (code) on delete cascade,
     person text not null,
     id text not null,
     refused integer not null,
     at integer not null,
     primary key (code, person)
   ) strict, without rowid`,
  `create table grants (
     id text primary key,
     code text not null,
     group_name text not null,
     session text not null,
     conversation integer not null,
     tool text not null,
     input text not null,
     sha256 text not null,
     scope text not null check (scope in ('session', 'day', 'always')),
     given_by text not null,
     at integer not null,
     expires_at integer,
     revoked_at integer
   ) strict, without rowid`,
  `create index grants_by_call on grants (group_name, sha256) where revoked_at is null`,
];
