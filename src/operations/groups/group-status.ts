import * as z from "zod";

import type { BudgetLimits, Group } from "../../domain/chats/group.ts";
import { addresseeOf, type HotContainerView, mainSessionKey } from "../../domain/turns/session.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { utcDay } from "../../lib/time/utc-day.ts";
import type { Store } from "../../stores/contract/store.ts";
import { defineOperation } from "../definition/define-operation.ts";
import { name } from "../definition/schemas.ts";
import { requireGroup } from "../lookup/require-group.ts";
import { groupStatus } from "./status-view.ts";
import { describeGroupStatus } from "./status-words.ts";

/** Codes of calls that are named. */
const mostAsked = 20;

/** The parts that know what the agents of a group do. */
interface GroupStatusNeeds {
  readonly groups: { list(): readonly Group[] };
  readonly store: {
    readonly sessions: Pick<Store["sessions"], "open">;
    readonly messages: Pick<Store["messages"], "waitingCount">;
    readonly usage: Pick<Store["usage"], "ofDay">;
    readonly approvals: Pick<Store["approvals"], "list">;
  };
  readonly pool: { list(): HotContainerView[] };
  /** True when a turn runs, in this session or any of the group. */
  readonly isActive: (group: string, session?: string) => boolean;
  readonly agentNameOf: (agent: string | undefined) => string;
  /** Models of a route, or of the default one. */
  readonly modelsOf: (route: string | undefined) => readonly string[];
  readonly budgetOf: (group: string | undefined) => BudgetLimits;
  readonly restOf: (group: string) => string | undefined;
  readonly clock: Pick<Clock, "now">;
}

export const showGroupStatus = defineOperation<GroupStatusNeeds>()({
  name: "groups.status",
  summary: "show what the agents of a group are doing",
  input: z.strictObject({ group: name }),
  output: groupStatus,
  may: { scope: "read", role: "guest" },
  effect: "none",
  cli: { args: ["group"], say: (status) => describeGroupStatus(status, true) },
  chat: { form: "/status", say: (status, { group }) => describeGroupStatus(status, group.main) },
  run: async (needs, { group: wanted }) => {
    const { store, isActive, agentNameOf, budgetOf } = needs;
    const group = requireGroup(needs.groups.list(), wanted);
    const usage = (await store.usage.ofDay(utcDay(needs.clock.now()))).find((entry) => entry.group === wanted);
    const hot = needs.pool.list().find((container) => container.group === wanted);
    const viewAgent = async (agent: string) => {
      const { id } = await store.sessions.open(mainSessionKey({ ...group, agent }), wanted);
      const waiting = await store.messages.waitingCount(group, addresseeOf(group, agent));
      return { name: agentNameOf(agent), active: isActive(wanted, id), waiting };
    };
    const open = await store.approvals.list({ group: wanted, state: "open", limit: mostAsked });
    return {
      group: wanted,
      assistant: agentNameOf(group.agent),
      active: isActive(wanted),
      waiting: await store.messages.waitingCount(group),
      agents: group.agents && (await Promise.all(group.agents.map(viewAgent))),
      models: needs.modelsOf(group.model),
      container: hot && { name: hot.name, state: hot.state },
      today: { tokens: usage?.tokens ?? 0, usd: usage?.usd ?? 0 },
      usdPerDay: { group: budgetOf(wanted).usdPerDay ?? null, total: budgetOf(undefined).usdPerDay ?? null },
      asked: open.map(({ code }) => code),
      rest: needs.restOf(wanted),
    };
  },
});
