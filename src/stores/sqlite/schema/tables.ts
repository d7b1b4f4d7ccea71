import type { Generated, Selectable } from "kysely";

import type { Actor } from "../../../domain/people/actor.ts";
import type { Origin } from "../../../domain/people/origin.ts";
import type { Role } from "../../../domain/people/role.ts";
import type { ApprovalScope } from "../../../domain/rights/approval.ts";
import type { ProtectedFileName } from "../../../domain/rights/protected-file.ts";
import type { SessionKind } from "../../../domain/turns/session.ts";
import type { SubAgentState } from "../../../domain/work/sub-agent.ts";
import type { Cause } from "../../../domain/work/work.ts";
import { approvalSchema } from "./approval-tables.ts";
import type { TablesOf } from "./columns.ts";
import { groupSchema } from "./group-tables.ts";
import { messageSchema } from "./message-tables.ts";
import { outboxSchema } from "./outbox-tables.ts";
import { recordTables } from "./record-tables.ts";
import { sessionSchema } from "./session-tables.ts";
import { subAgentSchema } from "./sub-agent-tables.ts";
import { summarySchema } from "./summary-tables.ts";
import { turnSchema } from "./turn-tables.ts";
import { usageSchema } from "./usage-tables.ts";
import { workSchema } from "./work-tables.ts";

/**
 * Statements that make the tables. AUTOINCREMENT wherever a number is promised never to be used twice: a plain rowid is
 * given again after its row is gone. STRICT, so that a wrong type is an error at the write.
 */
export const schema = [
  ...messageSchema,
  ...groupSchema,
  ...sessionSchema,
  ...turnSchema,
  ...workSchema,
  ...approvalSchema,
  ...subAgentSchema,
  ...summarySchema,
  ...outboxSchema,
  ...usageSchema,
  ...recordTables,
] as const;

/** Columns with words of the domain that no constraint lists. */
interface DomainColumns {
  readonly approvals: {
    readonly asker_role: Role;
    readonly approvers: Role;
    readonly decider_actor: Actor | null;
    readonly decider_role: Role | null;
  };
  readonly approval_votes: { readonly scope: ApprovalScope };
  readonly grants: { readonly role: Role; readonly approvers: Role };
  readonly folder_origins: { readonly origin: Origin };
  readonly group_instructions: { readonly file: ProtectedFileName };
  readonly sessions: { readonly kind: Generated<SessionKind> };
  readonly jobs: { readonly role: Role };
  readonly sub_agents: { readonly role: Role; readonly state: SubAgentState };
  readonly tasks: { readonly origin: Origin; readonly role: Role };
  readonly turns: { readonly cause: Generated<Cause>; readonly role: Role };
  readonly work: { readonly origin: Origin; readonly role: Role };
}

type Narrowed<Name, Columns> = {
  readonly [Column in keyof Columns]: Name extends keyof DomainColumns
    ? Column extends keyof DomainColumns[Name]
      ? DomainColumns[Name][Column]
      : Columns[Column]
    : Columns[Column];
};

type Created = TablesOf<(typeof schema)[number]>;

/** Tables that the stores of the host's own rooms share; those of abilities are in `src/stores/tables/`. */
export type Tables = { readonly [Name in keyof Created]: Narrowed<Name, Created[Name]> };

export type Row<Name extends keyof Tables> = Selectable<Tables[Name]>;
