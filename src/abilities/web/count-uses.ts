import type { WebUse } from "../../domain/settings/web.ts";
import type { EventStore } from "../../stores/contract/event-store.ts";

/** Events that are read at once. */
const pageEvents = 1_000;

/** Counts how often a group has used the web since this time: newest first, until they are older. */
export async function countUses(
  events: Pick<EventStore, "before">,
  { group, use, since }: { readonly group: string; readonly use: WebUse; readonly since: number },
): Promise<number> {
  let count = 0;
  let before = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const page = await events.before(before, { types: ["web.asked"], group }, pageEvents);
    for (const event of page.events)
      if (event.at >= since && event.type === "web.asked" && event.data.use === use) count += 1;
    const oldest = page.events[0];
    if (page.next === undefined || (oldest && oldest.at < since)) return count;
    before = page.next;
  }
}
