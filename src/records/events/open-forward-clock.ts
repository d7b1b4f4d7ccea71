import type { Clock } from "../../lib/time/clock.ts";
import { ForwardClock } from "../../lib/time/forward-clock.ts";
import type { Store } from "../../stores/contract/store.ts";

/** Newest events that show whether the clock was set back. */
const newestEvents = 1_000;

/** Opens a clock that does not go back behind the newest events, also after a restart. */
export async function openForwardClock(events: Pick<Store["events"], "before">, clock: Clock): Promise<ForwardClock> {
  const { events: newest } = await events.before(Number.MAX_SAFE_INTEGER, {}, newestEvents);
  return new ForwardClock(clock, Math.max(0, ...newest.map(({ at }) => at)));
}
