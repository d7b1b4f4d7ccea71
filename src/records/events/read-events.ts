import type { Store } from "../../stores/contract/store.ts";
import type { HostEvent } from "../../domain/events/event.ts";
import { matchTypes } from "../../domain/events/event-types.ts";

const pageEvents = 500;

/** Which events are wanted. */
export interface EventQuery {
  /** Events after this number, oldest first; the newest by default. */
  readonly after?: number | undefined;
  /** Number of newest events, without `after`. */
  readonly last: number;
  /** A type, or a prefix such as `turn.*`. */
  readonly type?: string | undefined;
  readonly group?: string | undefined;
}

/** Source of further events. */
export interface EventSource {
  /** Resolves when the next event has been stored, or at the signal. */
  readonly next: (signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}

type Reader = Pick<Store["events"], "after" | "before">;
type Filter = Parameters<Reader["after"]>[1];

/**
 * Stored events in order, then (with `source`) further ones. Holds one page in memory, however slow the reader. Throws
 * AppError `bad_input` immediately for an unknown type.
 */
export function readEvents(store: Reader, query: EventQuery, source?: EventSource): AsyncGenerator<HostEvent> {
  const filter = { types: query.type === undefined ? undefined : matchTypes(query.type), group: query.group };
  return read(store, { ...query, filter }, source);
}

async function* read(
  store: Reader,
  { after, last, filter }: EventQuery & { readonly filter: Filter },
  source: EventSource | undefined,
): AsyncGenerator<HostEvent> {
  let seen = after ?? (yield* newest(store, last, filter));
  if (source === undefined) {
    yield* upToNow(store, seen, filter);
    return;
  }
  const { next, signal } = source;
  while (!signal.aborted) {
    // Listened for before the store is read: what comes in between is not waited for.
    const more = next(signal);
    seen = yield* upToNow(store, seen, filter);
    await more;
  }
}

/** Returns the number of the last event that was looked at. */
async function* upToNow(store: Reader, after: number, filter: Filter): AsyncGenerator<HostEvent, number> {
  let seen = after;
  for (;;) {
    const page = await store.after(seen, filter, pageEvents);
    yield* page.events;
    seen = page.next ?? Math.max(seen, page.events.at(-1)?.seq ?? 0);
    if (page.next === undefined) return seen;
  }
}

/** Returns the number of the newest event of all. */
async function* newest(store: Reader, last: number, filter: Filter): AsyncGenerator<HostEvent, number> {
  const [newestOfAll] = (await store.before(Number.MAX_SAFE_INTEGER, {}, 1)).events;
  const upTo = newestOfAll?.seq ?? 0;
  let found: readonly HostEvent[] = [];
  for (let before: number | undefined = upTo + 1; before !== undefined && found.length < last;) {
    const { events, next }: Awaited<ReturnType<Reader["before"]>> = await store.before(
      before,
      filter,
      last - found.length,
    );
    found = [...events, ...found];
    before = next;
  }
  yield* found;
  return upTo;
}
