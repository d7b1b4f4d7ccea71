import { openTables } from "../tables.ts";
import { sqliteAuditIndex } from "./records/audit-index.ts";
import { sqliteBlobs } from "./blobs.ts";
import { sqliteChannelState } from "./groups/channel-state.ts";
import { sqliteChats } from "./groups/chats.ts";
import { sqliteGroups } from "./groups/groups.ts";
import { sqliteIntake } from "./groups/intake.ts";
import { sqliteCommands } from "./conversation/commands.ts";
import { sqliteJobs } from "./conversation/jobs.ts";
import { sqliteLeases } from "./leases.ts";
import { sqliteMessages } from "./conversation/messages.ts";
import { sqliteOrigins } from "./conversation/origins.ts";
import { sqliteOutbox } from "./conversation/outbox.ts";
import { sqliteRequests } from "./groups/requests.ts";
import { sqliteRetention } from "./retention.ts";
import { sqliteSessions } from "./conversation/sessions.ts";
import { sqliteSettings } from "./settings.ts";
import { sqliteTasks } from "./tasks/tasks.ts";
import { sqliteTurns } from "./conversation/turns.ts";
import { sqliteUsage } from "./records/usage.ts";
import { sqliteApprovals } from "./conversation/approvals.ts";
import { sqliteSummaries } from "./conversation/summaries.ts";
import { sqliteSubAgents } from "./conversation/sub-agents.ts";
import { sqliteWork } from "./conversation/work.ts";
import type { Database } from "./database/database.ts";

/** Opens the stores that need nothing but the database. */
export function openStores(database: Database) {
  return {
    ...openTables(database),
    messages: sqliteMessages(database),
    intake: sqliteIntake(database),
    retention: sqliteRetention(database),
    groups: sqliteGroups(database),
    chats: sqliteChats(database),
    requests: sqliteRequests(database),
    sessions: sqliteSessions(database),
    leases: sqliteLeases(database),
    turns: sqliteTurns(database),
    work: sqliteWork(database),
    jobs: sqliteJobs(database),
    approvals: sqliteApprovals(database),
    tasks: sqliteTasks(database),
    subAgents: sqliteSubAgents(database),
    summaries: sqliteSummaries(database),
    origins: sqliteOrigins(database),
    commands: sqliteCommands(database),
    blobs: sqliteBlobs(database),
    outbox: sqliteOutbox(database),
    channelState: sqliteChannelState(database),
    usage: sqliteUsage(database),
    audit: sqliteAuditIndex(database),
    settings: sqliteSettings(database),
  };
}
