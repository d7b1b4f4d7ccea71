import type { Clock } from "../../lib/time/clock.ts";
import type { EventStore } from "../../stores/contract/event-store.ts";
import { sumEvents } from "../../stores/sum-events.ts";
import { defineAbility } from "../define-ability.ts";
import { webConfig } from "./config.ts";
import { webFetch } from "./tools/web-fetch.ts";
import { webSearch } from "./tools/web-search.ts";
import type { WebServiceOptions } from "./web-service.ts";

interface WebNeeds extends Pick<WebServiceOptions, "webOf" | "publish"> {
  readonly store: { readonly events: Pick<EventStore, "before"> };
  readonly clock: Pick<Clock, "now">;
}

/** Fetches pages and searches the web for agents. */
export const web = defineAbility<WebNeeds>()({
  name: "web",
  config: webConfig,
  tools: [webFetch, webSearch],
  start: async ({ webOf, publish, store, clock }) => {
    const { WebService } = await import("./web-service.ts");
    const countSince: WebServiceOptions["countSince"] = (group, use, since) =>
      sumEvents(store.events, { type: "web.asked", group, since }, ({ data }) => Number(data.use === use));
    return new WebService({ webOf, publish, countSince, now: () => clock.now() });
  },
  portFor: (service, { group, session, turn }, signal) =>
    service.portFor({ group: group.name, session: session.id, turn: turn.id }, signal),
});
