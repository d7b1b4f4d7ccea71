import type { HostEvent } from "../../domain/events/event.ts";

/** An event as outside programs see it. */
export function viewEvent({ seq, at, type, group, session, turn, actor, data }: HostEvent): object {
  const time = new Date(at).toISOString();
  return { seq, time, type, group: group ?? null, session: session ?? null, turn: turn ?? null, actor, data };
}
