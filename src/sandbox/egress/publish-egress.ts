import type { NewEvent, Publish } from "../../domain/events/event.ts";
import type { OriginStore } from "../../stores/contract/origin-store.ts";
import { namedInEvents, serverOf } from "../servers/server-owner.ts";

/** Records each verdict on a connection: under its server, or with the origin that reaches the group by it. */
export function publishEgress(
  origins: Pick<OriginStore, "reach">,
  now: () => number,
  publish: Publish<"egress.judged">,
): (event: NewEvent<"egress.judged">) => Promise<void> {
  return async (event) => {
    const { group, data } = event;
    const ofServer = group === undefined ? undefined : serverOf(group);
    if (ofServer) return publish({ ...event, group: ofServer.group, data: { ...data, ...namedInEvents(ofServer) } });
    // A connection on record is opened next: what comes back by it is known before it is there.
    if (data.verdict === "allowed" && group !== undefined) await origins.reach(group, "web", now());
    await publish(event);
  };
}
