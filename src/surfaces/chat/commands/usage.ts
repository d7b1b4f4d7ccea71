import type { BudgetLimits } from "../../../domain/chats/group.ts";
import type { UsageSum } from "../../../domain/turns/usage.ts";
import { formatUsd } from "../../../lib/text/format-usd.ts";
import { utcDay } from "../../../lib/time/utc-day.ts";
import type { ChatCommand, CommandServices } from "../command.ts";

const dayMs = 86_400_000;
/** Groups and agents that are named; the others are counted. */
const mostNamed = 10;

/** Says what models have cost in the group, and in a main group what they have cost in all groups. */
export const usage: ChatCommand = {
  name: "usage",
  help: "usage and cost today and in the last 7 days",
  needs: "member",
  run: async ({ group, pending: { message } }, { usageSums, budgetsOf, now }) => {
    const at = now();
    const budgets = budgetsOf(group);
    const asker = `${message.channel}:${message.sender.id}`;
    const own = { sums: usageSums, at, group: group.name };
    const lines = [
      `Usage of group ${group.name}, days in UTC.`,
      ...(await describePeriods(own, budgets.group)),
      await describeShare(own, asker),
      ...(await describeAgents(own)),
      ...(group.main ? await describeAll({ sums: usageSums, at }, budgets.total) : []),
    ];
    return { text: lines.join("\n") };
  },
};

interface Scope {
  readonly sums: CommandServices["usageSums"];
  readonly at: number;
  /** Group; undefined: all groups. */
  readonly group?: string | undefined;
}

/** The first day (UTC) of each, by how it is called. */
function periodsAt(at: number): readonly (readonly [string, string])[] {
  return [
    ["Today", utcDay(at)],
    ["Last 7 days", utcDay(at - 6 * dayMs)],
  ];
}

async function describePeriods({ sums, at, group }: Scope, limits: BudgetLimits): Promise<string[]> {
  const [today = "", week = ""] = await Promise.all(
    periodsAt(at).map(async ([period, since]) => {
      const used = total(await sums("group", since, { group }));
      return `${period}: ${describe(used)}${period === "Today" ? describeBudget(used, limits) : ""}.`;
    }),
  );
  return [today, week];
}

async function describeShare({ sums, at, group }: Scope, asker: string): Promise<string> {
  const shares = periodsAt(at).map(async ([period, since]) => {
    const all = await sums("member", since, { group });
    const own = total(all.filter(({ key }) => key === asker));
    return `${period.toLowerCase()} ${formatUsd(own.usd)} (${percentOf(own, total(all))})`;
  });
  return `Your share: ${(await Promise.all(shares)).join(", ")}.`;
}

/** Which agent used what, where there are several. */
async function describeAgents({ sums, at, group }: Scope): Promise<string[]> {
  const known = (await sums("agent", utcDay(at - 6 * dayMs), { group })).filter(({ key }) => key !== "");
  if (known.length < 2) return [];
  return [`Last 7 days by agent: ${listUsers(known)}.`];
}

/** Each with its cost; those beyond the first few are counted. */
function listUsers(all: readonly UsageSum[]): string {
  const named = all.slice(0, mostNamed).map(({ key, usd, calls }) => `${key} ${formatUsd(usd)} (${inCalls(calls)})`);
  return [...named, ...(all.length > mostNamed ? [`${all.length - mostNamed} more`] : [])].join(", ");
}

async function describeAll(all: Scope, limits: BudgetLimits): Promise<string[]> {
  const groups = await all.sums("group", utcDay(all.at - 6 * dayMs));
  return [
    "All groups together:",
    ...(await describePeriods(all, limits)),
    ...(groups.length === 0 ? [] : [`Last 7 days by group: ${listUsers(groups)}.`]),
  ];
}

type Used = Pick<UsageSum, "calls" | "inputTokens" | "outputTokens" | "usd" | "unpricedCalls">;

function total(sums: readonly Used[]): Used {
  const add = (of: (sum: Used) => number): number => sums.reduce((sum, one) => sum + of(one), 0);
  return {
    calls: add(({ calls }) => calls),
    inputTokens: add(({ inputTokens }) => inputTokens),
    outputTokens: add(({ outputTokens }) => outputTokens),
    usd: add(({ usd }) => usd),
    unpricedCalls: add(({ unpricedCalls }) => unpricedCalls),
  };
}

function describe(used: Used): string {
  const tokens = tokensOf(used).toLocaleString("en-US");
  const unpriced = used.unpricedCalls > 0 ? ` and ${inCalls(used.unpricedCalls)} of unknown price` : "";
  return `${inCalls(used.calls)}, ${tokens} tokens, ${formatUsd(used.usd)}${unpriced}`;
}

function inCalls(count: number): string {
  return count === 1 ? "1 call" : `${count} calls`;
}

function describeBudget(used: Used, { usdPerDay, tokensPerDay }: BudgetLimits): string {
  const shares = [
    ...(usdPerDay === undefined ? [] : [`${percent(used.usd, usdPerDay)} of ${formatUsd(usdPerDay)} a day`]),
    ...(tokensPerDay === undefined
      ? []
      : [`${percent(tokensOf(used), tokensPerDay)} of ${tokensPerDay.toLocaleString("en-US")} tokens a day`]),
  ];
  return shares.length === 0 ? "" : ` (${shares.join(", ")})`;
}

/** By money; by tokens where nothing has a price. */
function percentOf(own: Used, all: Used): string {
  return all.usd > 0 ? percent(own.usd, all.usd) : percent(tokensOf(own), tokensOf(all));
}

function tokensOf({ inputTokens, outputTokens }: Used): number {
  return inputTokens + outputTokens;
}

function percent(some: number, all: number): string {
  return `${all === 0 ? 0 : Math.round((some * 100) / all)} %`;
}
