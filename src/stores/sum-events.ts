import type { EventType, HostEvent } from "../domain/events/event.ts";
import type { EventStore } from "./contract/event-store.ts";

/** Events that are read at once. */
const pageEvents = 1_000;

/** Adds up amounts of a group's events of one type since a time, the newest first. */
export async function sumEvents<Type extends EventType>(
  events: Pick<EventStore, "before">,
  { type, group, since }: { readonly type: Type; readonly group: string; readonly since: number },
  amountOf: (event: HostEvent<Type>) => number,
): Promise<number> {
  let sum = 0;
  let before = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const page = await events.before(before, { types: [type], group }, pageEvents);
    for (const event of page.events) if (event.at >= since) sum += amountOf(event as HostEvent<Type>);
    const oldest = page.events[0];
    if (page.next === undefined || (oldest && oldest.at < since)) return sum;
    before = page.next;
  }
}
