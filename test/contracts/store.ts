import { describe } from "vitest";

import { testAuditIndex } from "./store-audit-index.ts";
import { testChannelState } from "./store-channel-state.ts";
import { testExecutionPoints } from "./store-execution-points.ts";
import { testGroupsAndChats } from "./store-groups.ts";
import { testInterventions } from "./store-interventions.ts";
import { testMessages } from "./store-messages.ts";
import { testOutbox } from "./store-outbox.ts";
import { testSessions } from "./store-sessions.ts";
import type { OpenStore } from "./store-setup.ts";
import { testTurns } from "./store-turns.ts";
import { testBudgets } from "./store-usage.ts";

/** What every store has to keep; `open` gives the adapter under test on real files. */
export function storeContract(name: string, open: OpenStore): void {
  const parts = {
    messages: testMessages,
    turns: testTurns,
    interventions: testInterventions,
    sessions: testSessions,
    "groups and chats": testGroupsAndChats,
    outbox: testOutbox,
    "channel state": testChannelState,
    budgets: testBudgets,
    "execution points": testExecutionPoints,
    "audit index": testAuditIndex,
  };
  for (const [part, define] of Object.entries(parts)) {
    describe(`${name}: ${part}`, () => {
      define(open);
    });
  }
}
