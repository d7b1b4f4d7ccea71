import type { Selectable } from "kysely";

import { approvalSchema, type ApprovalTables } from "./approval-tables.ts";
import { groupSchema, type GroupTables } from "./group-tables.ts";
import { messageSchema, type MessageTables } from "./message-tables.ts";
import { outboxSchema, type OutboxTables } from "./outbox-tables.ts";
import { recordTables, type RecordTables } from "./record-tables.ts";
import { sessionSchema, type SessionTables } from "./session-tables.ts";
import { subAgentSchema, type SubAgentTables } from "./sub-agent-tables.ts";
import { summarySchema, type SummaryTables } from "./summary-tables.ts";
import { turnSchema, type TurnTables } from "./turn-tables.ts";
import { usageSchema, type UsageTables } from "./usage-tables.ts";
import { workSchema, type WorkTables } from "./work-tables.ts";

/** Tables that the stores of the host's own rooms share; those of abilities are in `src/stores/tables/`. */
export interface Tables
  extends
    MessageTables,
    GroupTables,
    SessionTables,
    TurnTables,
    WorkTables,
    ApprovalTables,
    SubAgentTables,
    SummaryTables,
    OutboxTables,
    UsageTables,
    RecordTables {}

export type Row<Name extends keyof Tables> = Selectable<Tables[Name]>;

/**
 * Statements that make the tables. AUTOINCREMENT wherever a number is promised never to be used twice: a plain rowid is
 * given again after its row is gone. STRICT, so that a wrong type is an error at the write.
 */
export const schema: readonly string[] = [
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
];
