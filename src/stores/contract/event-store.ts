import type { EventType, HostEvent, NewEvent } from "../../domain/events/event.ts";

/** Which events are wanted; absent: all. */
export interface EventFilter {
  readonly types?: readonly EventType[] | undefined;
  readonly group?: string | undefined;
}

/** Some of the events that were asked for, in order. */
export interface EventPage {
  readonly events: readonly HostEvent[];
  /** Beginning of the next page; undefined at the end. */
  readonly next: number | undefined;
}

/** Returns an event's new data; undefined: unchanged. */
export type RewriteEvent = (event: HostEvent) => object | undefined;

export interface RewrittenEvents {
  readonly changed: number;
  /** Behind which event to go on; undefined when there are no more. */
  readonly next: number | undefined;
}

/** Everything that happened, numbered 1, 2, 3 … in the order of the calls. No number is left out or used twice. */
export interface EventStore {
  /**
   * Resolves with its number when a crash of this process cannot undo it; a loss of power may take back the last few.
   */
  append(event: NewEvent, at: number): Promise<number>;
  /** Events with `seq > after`, oldest first, at most `limit`. A page may be empty although there are more. */
  after(after: number, filter: EventFilter, limit: number): Promise<EventPage>;
  /** Events with `seq < before`, oldest first; the newest `limit` of them win. */
  before(before: number, filter: EventFilter, limit: number): Promise<EventPage>;
  /** Removes the oldest events, at most `limit`, as far as they are from before then; never the newest one. */
  prune(before: number, limit: number): Promise<number>;
  /** Changes what some of the events behind `after` tell, for words that have to go. */
  rewrite(after: number, change: RewriteEvent): Promise<RewrittenEvents>;
}
