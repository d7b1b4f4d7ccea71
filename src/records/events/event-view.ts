import type { HostEvent } from "../../domain/events/event.ts";

/** An event as outside programs see it. */
export interface EventView extends Pick<HostEvent, "seq" | "type" | "actor" | "data"> {
  /** ISO 8601 */
  readonly time: string;
  readonly group: string | null;
  readonly session: string | null;
  readonly turn: string | null;
}

export function viewEvent({ seq, at, type, group, session, turn, actor, data }: HostEvent): EventView {
  const time = new Date(at).toISOString();
  return { seq, time, type, group: group ?? null, session: session ?? null, turn: turn ?? null, actor, data };
}
