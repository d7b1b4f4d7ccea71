import { agentNameOf } from "../../config/configured/agents.ts";
import type { Config } from "../../config/schema/config.ts";
import type { BudgetLimits, Group } from "../../domain/chats/group.ts";
import { addresseeOf, mainSessionKey } from "../../domain/turns/session.ts";
import { totalUsdPerDay } from "../../domain/turns/usage.ts";
import { describeRest } from "../../intake/limits/resting-notice.ts";
import type { TurnPace } from "../../intake/limits/turn-pace.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { utcDay } from "../../lib/time/utc-day.ts";
import { referencesOf } from "../../models/routes/routes.ts";
import type { SessionPool } from "../../sandbox/pool/pool.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { ActiveTurns } from "../../turns/active-turns.ts";
import { describeForChat } from "./describe-for-chat.ts";

/** Maximum number of open approvals that `/status` names. */
const mostCodes = 20;

export interface GroupStatusOptions {
  readonly config: Pick<Config, "agents" | "assistant" | "budgets" | "models">;
  readonly store: {
    readonly approvals: Pick<Store["approvals"], "list">;
    readonly messages: Pick<Store["messages"], "waitingCount">;
    readonly sessions: Pick<Store["sessions"], "open">;
    readonly usage: Pick<Store["usage"], "ofDay">;
  };
  readonly activeTurns: Pick<ActiveTurns, "isActive">;
  readonly pool: Pick<SessionPool, "list">;
  readonly pace: Pick<TurnPace, "resting">;
  readonly clock: Pick<Clock, "now">;
}

/** Describes a group's state for `/status`. */
export async function describeStatus(options: GroupStatusOptions, group: Group): Promise<string> {
  const { config, store, activeTurns, pool, pace, clock } = options;
  const { name } = group;
  const usage = (await store.usage.ofDay(utcDay(clock.now()))).find((entry) => entry.group === name);
  const hot = pool.list().find((container) => container.group === name);
  const resting = pace.resting(name);
  const open = await store.approvals.list({ group: name, state: "open", limit: mostCodes });
  return describeForChat({
    agents: group.agents && (await Promise.all(group.agents.map((agent) => stateOf(options, group, agent)))),
    assistantName: agentNameOf(config, group.agent),
    models: referencesOf(config.models.routes, group.model ?? config.models.default),
    waiting: await store.messages.waitingCount(group),
    active: activeTurns.isActive(name),
    // Its name says something to the operator only.
    container: hot && (group.main ? `${hot.name} (${hot.state})` : hot.state),
    group,
    today: usage ?? { tokens: 0, usd: 0 },
    usdPerDay: { group: groupBudget(config, group).usdPerDay, total: totalBudget(config).usdPerDay },
    asked: open.map(({ code }) => code),
    rest: resting && describeRest(resting),
  });
}

async function stateOf({ config, store, activeTurns }: GroupStatusOptions, group: Group, agent: string) {
  const session = await store.sessions.open(mainSessionKey({ ...group, agent }), group.name);
  return {
    name: agentNameOf(config, agent),
    active: activeTurns.isActive(group.name, session.id),
    waiting: await store.messages.waitingCount(group, addresseeOf(group, agent)),
  };
}

/** Returns a group's daily budget: its own, or else that of each group. */
export function groupBudget({ budgets }: Pick<Config, "budgets">, { budget }: Pick<Group, "budget">): BudgetLimits {
  const { usdPerDay, tokensPerDay } = budgets.perGroup;
  return { usdPerDay: budget.usdPerDay ?? usdPerDay, tokensPerDay: budget.tokensPerDay ?? tokensPerDay };
}

/** Returns the daily budget of all groups together. */
export function totalBudget({ budgets: { total } }: Pick<Config, "budgets">): BudgetLimits {
  return { usdPerDay: totalUsdPerDay(total), tokensPerDay: total.tokensPerDay };
}
