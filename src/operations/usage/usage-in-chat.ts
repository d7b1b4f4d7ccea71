import type { UsageLine } from "../../domain/turns/usage.ts";
import { formatUsd } from "../../lib/text/format-usd.ts";
import type { ChatView } from "../definition/chat-form.ts";

/** Groups and agents that are named; the others are counted. */
const mostNamed = 10;

/** Usage since a day, and the limits of a day. */
interface UsageAnswer {
  readonly costs: readonly UsageLine[];
  readonly budget: { readonly usdPerDay: number | null; readonly tokensPerDay: number | null };
}

/** Asks what was used; without a group: in all of them. */
type AskUsage = (given: {
  readonly by: UsageLine["by"];
  readonly since: string;
  readonly group?: string | undefined;
}) => Promise<UsageAnswer>;

/** Describes what models have cost in the group, and in a main group what they have cost in all groups. */
export async function describeUsage(ask: AskUsage, { group, asker }: ChatView): Promise<string> {
  const own = { ask, group: group.name };
  const lines = [
    `Usage of group ${group.name}, days in UTC.`,
    ...(await describePeriods(own)),
    await describeShare(own, asker.key),
    ...(await describeAgents(own)),
    ...(group.main ? await describeAll({ ask, group: undefined }) : []),
  ];
  return lines.join("\n");
}

interface Asked {
  readonly ask: AskUsage;
  /** Undefined: all groups. */
  readonly group: string | undefined;
}

const periods = [
  ["Today", "1d"],
  ["Last 7 days", "7d"],
] as const;

async function describePeriods({ ask, group }: Asked): Promise<string[]> {
  return Promise.all(
    periods.map(async ([period, since]) => {
      const { costs, budget } = await ask({ by: "group", since, group });
      const used = total(costs);
      return `${period}: ${describe(used)}${period === "Today" ? describeBudget(used, budget) : ""}.`;
    }),
  );
}

async function describeShare({ ask, group }: Asked, asker: string): Promise<string> {
  const shares = periods.map(async ([period, since]) => {
    const { costs } = await ask({ by: "member", since, group });
    const own = total(costs.filter(({ id }) => id === asker));
    return `${period.toLowerCase()} ${formatUsd(own.usd)} (${percentOf(own, total(costs))})`;
  });
  return `Your share: ${(await Promise.all(shares)).join(", ")}.`;
}

/** Which agent used what, where there are several. */
async function describeAgents({ ask, group }: Asked): Promise<string[]> {
  const { costs } = await ask({ by: "agent", since: "7d", group });
  const known = costs.filter(({ name }) => name !== "");
  if (known.length < 2) return [];
  return [`Last 7 days by agent: ${listUsers(known)}.`];
}

/** Each with its cost; those beyond the first few are counted. */
function listUsers(all: readonly UsageLine[]): string {
  const named = all.slice(0, mostNamed).map(({ name, usd, calls }) => `${name} ${formatUsd(usd)} (${inCalls(calls)})`);
  return [...named, ...(all.length > mostNamed ? [`${all.length - mostNamed} more`] : [])].join(", ");
}

async function describeAll(all: Asked): Promise<string[]> {
  const { costs } = await all.ask({ by: "group", since: "7d", group: undefined });
  return [
    "All groups together:",
    ...(await describePeriods(all)),
    ...(costs.length === 0 ? [] : [`Last 7 days by group: ${listUsers(costs)}.`]),
  ];
}

type Used = Pick<UsageLine, "calls" | "inputTokens" | "outputTokens" | "usd" | "unpricedCalls">;

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

function describeBudget(used: Used, { usdPerDay, tokensPerDay }: UsageAnswer["budget"]): string {
  const shares = [
    ...(usdPerDay === null ? [] : [`${percent(used.usd, usdPerDay)} of ${formatUsd(usdPerDay)} a day`]),
    ...(tokensPerDay === null
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
