import type { BudgetLimits, Group } from "../../domain/chats/group.ts";
import { totalUsdPerDay } from "../../domain/turns/usage.ts";
import { utcDay } from "../../lib/time/utc-day.ts";
import { isAtWork } from "../../stores/is-at-work.ts";
import type { Store } from "../../stores/contract/store.ts";

/** Time after a message during which its author may write again. */
const quietMs = 5 * 60_000;

/** True when somebody talks with the group's agent, or did a moment ago. */
export async function isTalking(
  store: Parameters<typeof isAtWork>[0] & { readonly events: Pick<Store["events"], "before"> },
  group: Group,
  now: number,
): Promise<boolean> {
  if (await isAtWork(store, group)) return true;
  const filter = { types: ["message.received"], group: group.name } as const;
  const { events } = await store.events.before(Number.MAX_SAFE_INTEGER, filter, 1);
  const [newest] = events;
  // The clock may have been set back.
  return newest !== undefined && Math.abs(now - newest.at) < quietMs;
}

/** True when something is left of the day's budgets, the group's and that of all. */
export async function hasBudget(
  usage: Pick<Store["usage"], "ofDay">,
  { group, total, now }: { readonly group: Group; readonly total: Partial<BudgetLimits>; readonly now: number },
): Promise<boolean> {
  const used = await usage.ofDay(utcDay(now));
  const own = used.find((entry) => entry.group === group.name);
  const { tokensPerDay = Infinity, usdPerDay = Infinity } = group.budget;
  const tokens = used.reduce((sum, entry) => sum + entry.tokens, 0);
  const usd = used.reduce((sum, entry) => sum + entry.usd, 0);
  return (
    (own?.tokens ?? 0) < tokensPerDay &&
    (own?.usd ?? 0) < usdPerDay &&
    tokens < (total.tokensPerDay ?? Infinity) &&
    usd < (totalUsdPerDay(total) ?? Infinity)
  );
}
