import type { Generated, Selectable } from "kysely";

import type { RequestKind, RequestState } from "../../../domain/chats/group.ts";
import type { JobState } from "../../../domain/work/job.ts";
import type { MessageState, OutboxState, OutgoingKind } from "../../../domain/chats/message.ts";
import type { ProtectedFileName } from "../../../domain/rights/protected-file.ts";
import type { SessionKind } from "../../../domain/turns/session.ts";
import type { TurnState } from "../../../domain/turns/turn.ts";
import type { Origin } from "../../../domain/people/origin.ts";
import type { Cause, NewWork, WorkState } from "../../../domain/work/work.ts";
import type { ApprovalTable, ApprovalVoteTable, CardReactionTable, GrantTable } from "./approval-tables.ts";
import type { Role } from "../../../domain/people/role.ts";
import type { TaskRunTable, TaskTable } from "./task-tables.ts";
import type {
  BudgetWarningTable,
  LearnedWindowTable,
  ReservationTable,
  TokenFactorTable,
  UsageCallTable,
  UsageDayTable,
} from "./usage-tables.ts";
import type { ErasureTable } from "./erasure-tables.ts";
import type { CompactionRequestTable, SummaryTable } from "./summary-tables.ts";
import type { SubAgentNumberTable, SubAgentTable } from "./sub-agent-tables.ts";

interface MessageTable {
  readonly seq: Generated<number>;
  readonly group_name: string;
  readonly channel: string;
  readonly chat: string;
  readonly id: string;
  readonly sender_id: string;
  readonly sender_name: string;
  readonly text: string;
  readonly quote: string | null;
  readonly attachments: string | null;
  readonly state: MessageState;
  readonly turn: string | null;
  readonly received_at: number;
  readonly sent_at: number | null;
  readonly late: Generated<number>;
  readonly forwarded: Generated<number>;
  readonly thread: string | null;
  readonly pruned: Generated<number>;
  readonly agent: string | null;
  readonly copy_of: number | null;
}

interface IntakeDayTable {
  readonly day: string;
  readonly kind: "group" | "member" | "auto-register";
  readonly name: string;
  readonly messages: number;
  readonly bytes: number;
  readonly attachment_bytes: number;
  readonly told: Generated<number>;
}

interface CommandTable {
  readonly message: number;
  readonly group_name: string;
  readonly command: string;
  readonly argument: string | null;
}

interface ChatRequestTable {
  readonly kind: Generated<RequestKind>;
  readonly code: string;
  readonly channel: string;
  readonly chat: string;
  readonly title: string | null;
  readonly sender_id: string;
  readonly sender_name: string;
  readonly state: RequestState;
  readonly at: number;
}

interface CodeTriesTable {
  readonly place: string;
  readonly wrong: number;
  readonly message: number;
  readonly at: number;
}

interface WriteProbeTable {
  readonly id: number;
  readonly at: number;
}

interface GroupTable {
  readonly name: string;
  readonly channel: string;
  readonly chat: string;
  readonly settings: string;
}

interface GroupFolderTable {
  readonly name: string;
  readonly channel: string;
  readonly chat: string;
}

interface GroupInstructionsTable {
  readonly group_name: string;
  readonly file: ProtectedFileName;
  readonly sha256: string;
  readonly bytes: number;
  readonly changed_at: number | null;
}

interface OrdinalTable {
  readonly group_name: string;
  readonly ordinal: number;
}

interface ChatTable {
  readonly channel: string;
  readonly chat: string;
  readonly group_name: string | null;
  readonly first_seen_at: number;
  readonly last_seen_at: number;
  readonly messages: number;
  readonly title: string | null;
  readonly members: string | null;
  readonly gone: Generated<number>;
}

interface MemberTable {
  readonly group_name: string;
  readonly sender_id: string;
  readonly name: string;
  readonly seen_at: number;
}

interface SessionTable {
  readonly id: string;
  readonly key: string;
  readonly group_name: string;
  readonly conversation: number;
  readonly generation: number;
  readonly context_cursor: number;
  readonly window_start: number;
  readonly cleared_before: Generated<number>;
  readonly pictures_from: Generated<number>;
  readonly captions_to: Generated<number>;
  readonly mailbox_block: number;
  readonly kind: Generated<SessionKind>;
  readonly parent: string | null;
  readonly archived_at: number | null;
  readonly ephemeral: Generated<number>;
  readonly lease_owner: string | null;
  readonly lease_generation: Generated<number>;
  readonly lease_expires_at: Generated<number>;
}

interface OfferedToolsTable {
  readonly session: string;
  readonly conversation: number;
  readonly tools: string;
}

interface TurnTable {
  readonly seq: Generated<number>;
  readonly id: string;
  readonly group_name: string;
  readonly session: string;
  readonly conversation: number;
  readonly state: TurnState;
  readonly attempts: number;
  readonly started_at: number;
  readonly ended_at: number | null;
  readonly reason: string | null;
  readonly times: string | null;
  readonly cause: Cause;
  readonly reply_to: string;
  readonly origins: string | null;
  /** It has put calls to people. */
  readonly asked: Generated<number>;
}

interface FolderOriginTable {
  readonly group_name: string;
  readonly origin: Origin;
  readonly since: number;
  readonly turn: string | null;
}

interface JobTable {
  readonly session: string;
  readonly id: string;
  readonly group_name: string;
  readonly generation: number;
  readonly conversation: number;
  readonly turn: string;
  readonly command: string;
  readonly state: JobState;
  readonly started_at: number;
  readonly ended_at: number | null;
  readonly exit_code: number | null;
  readonly reason: string | null;
}

interface WorkTable {
  readonly seq: Generated<number>;
  readonly id: string;
  readonly group_name: string;
  readonly session: string;
  readonly cause: NewWork["cause"];
  readonly due_at: number;
  readonly dedupe: string | null;
  readonly reply_to: string;
  readonly origin: Origin;
  readonly origins: string | null;
  readonly requester: string | null;
  readonly role: Role | null;
  readonly text: string;
  readonly payload: string | null;
  readonly state: WorkState;
  readonly turn: string | null;
  readonly reason: string | null;
  readonly created_at: number;
}

interface ConversationPromptTable {
  readonly session: string;
  readonly conversation: number;
  readonly system: string;
  readonly told: string;
  readonly sections: string | null;
}

interface StepTable {
  readonly seq: Generated<number>;
  readonly turn: string;
  readonly session: string;
  readonly conversation: number;
  readonly at: number;
  readonly tokens: number;
  readonly body: string;
}

interface OutboxTable {
  readonly seq: Generated<number>;
  readonly group_name: string;
  readonly channel: string;
  readonly chat: string;
  readonly kind: OutgoingKind;
  readonly text: string;
  readonly in_reply_to: string;
  readonly turn: string | null;
  readonly elapsed_ms: number | null;
  readonly state: OutboxState;
  readonly attempts: number;
  readonly error: string | null;
  readonly created_at: number;
  readonly retried_at: number | null;
  readonly file: string | null;
  readonly reaction: string | null;
  readonly thread: string | null;
  readonly accepted_at: number | null;
  readonly pruned: Generated<number>;
  readonly agent: string | null;
}

interface ChannelStateTable {
  readonly space: string;
  readonly key: string;
  readonly value: Uint8Array;
}

interface AuditRecordTable {
  readonly seq: number;
  readonly hash: string;
  readonly type: string;
  readonly group_name: string | null;
  readonly file: string;
}

interface AuditSignedTable {
  readonly id: number;
  readonly seq: number;
}

interface ExecutionPointTable {
  readonly seq: Generated<number>;
  readonly turn: string;
  readonly at: number;
  readonly target: string;
  readonly path: string;
  readonly kind: string;
  readonly change: "added" | "changed" | "removed";
}

interface BlobTable {
  readonly sha256: string;
  readonly bytes: number;
  readonly mime_type: string;
  readonly created_at: number;
}

interface BlobReferenceTable {
  readonly step: number;
  readonly sha256: string;
}

interface SettingsHistoryTable {
  readonly id: Generated<number>;
  readonly at: number;
  readonly actor: string;
  readonly via: string;
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

interface SettingsAppliedTable {
  readonly id: number;
  readonly settings: string;
}

interface PictureCaptionTable {
  readonly seq: Generated<number>;
  readonly sha256: string;
  readonly caption: string;
  readonly at: number;
}

/** Tables as the newest migration leaves them. */
export interface Tables {
  readonly messages: MessageTable;
  readonly commands: CommandTable;
  readonly intake_days: IntakeDayTable;
  readonly write_probe: WriteProbeTable;
  readonly groups: GroupTable;
  readonly group_folders: GroupFolderTable;
  readonly group_instructions: GroupInstructionsTable;
  readonly ordinals: OrdinalTable;
  readonly chats: ChatTable;
  readonly chat_requests: ChatRequestTable;
  readonly code_tries: CodeTriesTable;
  readonly members: MemberTable;
  readonly sessions: SessionTable;
  readonly offered_tools: OfferedToolsTable;
  readonly turns: TurnTable;
  readonly work: WorkTable;
  readonly jobs: JobTable;
  readonly sub_agents: SubAgentTable;
  readonly sub_agent_numbers: SubAgentNumberTable;
  readonly folder_origins: FolderOriginTable;
  readonly conversation_prompts: ConversationPromptTable;
  readonly steps: StepTable;
  readonly blobs: BlobTable;
  readonly blob_references: BlobReferenceTable;
  readonly picture_captions: PictureCaptionTable;
  readonly approvals: ApprovalTable;
  readonly approval_votes: ApprovalVoteTable;
  readonly card_reactions: CardReactionTable;
  readonly grants: GrantTable;
  readonly tasks: TaskTable;
  readonly task_runs: TaskRunTable;
  readonly outbox: OutboxTable;
  readonly channel_state: ChannelStateTable;
  readonly usage_days: UsageDayTable;
  readonly usage_calls: UsageCallTable;
  readonly token_factors: TokenFactorTable;
  readonly learned_windows: LearnedWindowTable;
  readonly budget_warnings: BudgetWarningTable;
  readonly reservations: ReservationTable;
  readonly execution_points: ExecutionPointTable;
  readonly settings_history: SettingsHistoryTable;
  readonly settings_applied: SettingsAppliedTable;
  readonly audit_records: AuditRecordTable;
  readonly audit_signed: AuditSignedTable;
  readonly erasures: ErasureTable;
  readonly summaries: SummaryTable;
  readonly compaction_requests: CompactionRequestTable;
}

export type Row<Name extends keyof Tables> = Selectable<Tables[Name]>;
