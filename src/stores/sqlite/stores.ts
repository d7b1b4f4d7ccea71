import { openTables } from "../tables.ts";
import { SqliteAuditIndex } from "./records/audit-index.ts";
import { SqliteBlobs } from "./blobs.ts";
import { SqliteChannelState } from "./groups/channel-state.ts";
import { SqliteChats } from "./groups/chats.ts";
import { SqliteGroups } from "./groups/groups.ts";
import { SqliteIntake } from "./groups/intake.ts";
import { SqliteCommands } from "./conversation/commands.ts";
import { SqliteJobs } from "./conversation/jobs.ts";
import { SqliteLeases } from "./leases.ts";
import { SqliteMessages } from "./conversation/messages.ts";
import { SqliteOrigins } from "./conversation/origins.ts";
import { SqliteOutbox } from "./conversation/outbox.ts";
import { SqliteRequests } from "./groups/requests.ts";
import { SqliteRetention } from "./retention.ts";
import { SqliteSessions } from "./conversation/sessions.ts";
import { SqliteSettings } from "./settings.ts";
import { SqliteTasks } from "./tasks/tasks.ts";
import { SqliteTurns } from "./conversation/turns.ts";
import { SqliteUsage } from "./records/usage.ts";
import { SqliteApprovals } from "./conversation/approvals.ts";
import { SqliteSummaries } from "./conversation/summaries.ts";
import { SqliteSubAgents } from "./conversation/sub-agents.ts";
import { SqliteWork } from "./conversation/work.ts";
import type { Database } from "./database/database.ts";

/** Opens the stores that need nothing but the database. */
export function openStores(database: Database) {
  return {
    ...openTables(database),
    messages: new SqliteMessages(database),
    intake: new SqliteIntake(database),
    retention: new SqliteRetention(database),
    groups: new SqliteGroups(database),
    chats: new SqliteChats(database),
    requests: new SqliteRequests(database),
    sessions: new SqliteSessions(database),
    leases: new SqliteLeases(database),
    turns: new SqliteTurns(database),
    work: new SqliteWork(database),
    jobs: new SqliteJobs(database),
    approvals: new SqliteApprovals(database),
    tasks: new SqliteTasks(database),
    subAgents: new SqliteSubAgents(database),
    summaries: new SqliteSummaries(database),
    origins: new SqliteOrigins(database),
    commands: new SqliteCommands(database),
    blobs: new SqliteBlobs(database),
    outbox: new SqliteOutbox(database),
    channelState: new SqliteChannelState(database),
    usage: new SqliteUsage(database),
    audit: new SqliteAuditIndex(database),
    settings: new SqliteSettings(database),
  };
}
