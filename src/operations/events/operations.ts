import * as z from "zod";

import type { Delta, MissedDeltas } from "../../domain/chats/delta.ts";
import type { HostEvent } from "../../domain/events/event.ts";
import { readEvents } from "../../records/events/read-events.ts";
import type { Store } from "../../stores/contract/store.ts";
import { defineStream } from "../definition/define-operation.ts";
import { flag, name, schemaOf } from "../definition/schemas.ts";
import { together } from "../../lib/together.ts";

/** The parts that know what happens. */
export interface EventNeeds {
  readonly store: { readonly events: Pick<Store["events"], "after" | "before"> };
  /** Resolves when the next event has been stored, or at the signal. */
  readonly nextEvent: (signal: AbortSignal) => Promise<void>;
  /** Live output of this group's turns, or all, until the signal. */
  readonly watchDeltas: (group: string | undefined, signal: AbortSignal) => AsyncIterable<Delta | MissedDeltas>;
}

/** A line that is no event. */
export interface ToldDelta {
  readonly delta: Delta | MissedDeltas;
}

const told = schemaOf<HostEvent | ToldDelta>(z.looseObject({}));

/** Rejects with `bad_input` for an unknown type. */
export const tailEvents = defineStream<EventNeeds>()({
  name: "events.tail",
  summary: "read stored events in order, then those that come",
  input: z
    .strictObject({
      after: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
      last: z.coerce.number().int().min(0).max(1000).default(20),
      type: name.optional().describe("one type, or a prefix such as `turn.*`"),
      group: name.optional(),
      follow: flag,
      deltas: flag.describe("also what turns do meanwhile; goes with `follow`"),
    })
    .refine(({ follow, deltas }) => follow || !deltas, "deltas: goes with follow only"),
  output: told,
  may: { scope: "read" },
  effect: "none",
  isLong: true,
  follow: ({ store, nextEvent, watchDeltas }, { follow, deltas, ...query }, { signal }) => {
    const events = readEvents(store.events, query, follow ? { next: nextEvent, signal } : undefined);
    return deltas ? together<HostEvent | ToldDelta>([events, asDeltas(watchDeltas(query.group, signal))]) : events;
  },
});

async function* asDeltas(deltas: AsyncIterable<Delta | MissedDeltas>): AsyncGenerator<ToldDelta> {
  for await (const delta of deltas) yield { delta };
}

/** Operations on events. */
export const eventOperations = [tailEvents] as const;
