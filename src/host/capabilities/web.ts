import { webOf } from "../../config/web.ts";
import { webAbilities, type WebUse } from "../../domain/settings/web.ts";
import type { EventStore } from "../../stores/contract/event-store.ts";
import type { PagePort, SearchPort } from "../../tools/web/web-ports.ts";
import { placeOf, type TurnScope } from "../../turns/turn-options.ts";
import { WebDesk } from "../../abilities/web/web-desk.ts";
import type { AppContext } from "../context.ts";

/** What a turn can do on the web, as the configuration is now. */
export interface WebPorts {
  readonly pages: PagePort | undefined;
  readonly webSearch: SearchPort | undefined;
}

/** Events that are looked at in one go. */
const pageEvents = 1_000;

/** Goes to the web for turns. Nothing is made before the first of them does. */
export function createWeb(context: AppContext): (scope: TurnScope, signal: AbortSignal) => WebPorts {
  const { live, publish, store, clock } = context;
  let made: WebDesk | undefined;
  const desk = (): WebDesk =>
    (made ??= new WebDesk({
      publish,
      countSince: (group, use, since) => countUses(store.events, { group, use, since }),
      now: () => clock.now(),
    }));
  return (scope, signal) => {
    const web = webOf(live.current, scope.group.name);
    const { fetches, searches } = webAbilities(web);
    const call = { place: placeOf(scope), web, signal };
    return {
      pages: fetches ? { fetch: (url) => desk().fetch(url, call) } : undefined,
      webSearch: searches ? { search: (query, count) => desk().search({ query, count }, call) } : undefined,
    };
  };
}

/** How often a group has gone to the web since then, newest first, until they are older. */
async function countUses(
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
