import { describe } from "vitest";

import { testApprovals } from "./store-approvals.ts";
import { testGrants } from "./store-grants.ts";
import { testAuditIndex } from "./store-audit-index.ts";
import { testBlobs } from "./store-blobs.ts";
import { testChannelState } from "./store-channel-state.ts";
import { testChatIdentity } from "./store-chat-identity.ts";
import { testErasure } from "./store-erasure.ts";
import { testEvents } from "./store-events.ts";
import { testExecutionPoints } from "./store-execution-points.ts";
import { testGroupsAndChats } from "./store-groups.ts";
import { testIntake } from "./store-intake.ts";
import { testCommands } from "./store-commands.ts";
import { testJobs } from "./store-jobs.ts";
import { testLeases } from "./store-leases.ts";
import { testMessages } from "./store-messages.ts";
import { testOrigins } from "./store-origins.ts";
import { testOutbox } from "./store-outbox.ts";
import { type OpenStoreReader, testReader } from "./store-reader.ts";
import { testRetention } from "./store-retention.ts";
import { testSessions } from "./store-sessions.ts";
import type { OpenStore } from "./store-setup.ts";
import { testSettings } from "./store-settings.ts";
import { testSummaries } from "./store-summaries.ts";
import { testTasks } from "./store-tasks.ts";
import { testSubAgents } from "./store-sub-agents.ts";
import { testTurns } from "./store-turns.ts";
import { testBudgets } from "./store-usage.ts";
import { testWork } from "./store-work.ts";

export interface StoreAdapter {
  readonly open: OpenStore;
  readonly openReader: OpenStoreReader;
}

/** Contract of every store; `open` gives the adapter on real files, `openReader` a reader of the same. */
export function storeContract(name: string, { open, openReader }: StoreAdapter): void {
  const parts = {
    messages: testMessages,
    intake: testIntake,
    turns: testTurns,
    commands: testCommands,
    sessions: testSessions,
    work: testWork,
    jobs: testJobs,
    tasks: testTasks,
    "sub-agents": testSubAgents,
    approvals: testApprovals,
    grants: testGrants,
    origins: testOrigins,
    leases: testLeases,
    "groups and chats": testGroupsAndChats,
    "chats of one name": testChatIdentity,
    outbox: testOutbox,
    retention: testRetention,
    blobs: testBlobs,
    "channel state": testChannelState,
    budgets: testBudgets,
    "execution points": testExecutionPoints,
    "audit index": testAuditIndex,
    events: testEvents,
    erasure: testErasure,
    settings: testSettings,
    summaries: testSummaries,
  };
  describe(`${name}: reading without a host`, () => {
    testReader(open, openReader);
  });
  for (const [part, define] of Object.entries(parts)) {
    describe(`${name}: ${part}`, () => {
      define(open);
    });
  }
}
