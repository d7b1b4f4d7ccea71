import * as z from "zod";

import type { Delta, MissedDeltas } from "../../domain/chats/delta.ts";
import type { HostEvent } from "../../domain/events/event.ts";
import { type EventView, viewEvent } from "../../records/events/event-view.ts";
import { readEvents } from "../../records/events/read-events.ts";
import type { Store } from "../../stores/contract/store.ts";
import { defineStream } from "../definition/define-operation.ts";
import { flag, name, onlyGroup, schemaOf } from "../definition/schemas.ts";
import { together } from "../../lib/together.ts";

/** The parts that know what happens. */
export interface EventNeeds {
  readonly events: Pick<Store["events"], "after" | "before">;
  /** Resolves when the next event has been stored, or at the signal. */
  readonly nextEvent: (signal: AbortSignal) => Promise<void>;
  /** Live output of this group's turns, or all, until the signal. */
  readonly watchDeltas: (group: string | undefined, signal: AbortSignal) => AsyncIterable<Delta | MissedDeltas>;
}

/** A line that is no event. */
export interface ToldDelta {
  readonly delta: Delta | MissedDeltas;
}

const told = schemaOf<EventView | ToldDelta>(z.looseObject({}));

/** Rejects with `bad_input` for an unknown type. */
export const tailEvents = defineStream<EventNeeds>()({
  name: "events.tail",
  summary: "read stored events in order, then those that come",
  input: z
    .strictObject({
      after: z.coerce
        .number()
        .int()
        .min(0)
        .max(Number.MAX_SAFE_INTEGER)
        .optional()
        .describe("all events after this number; 0: from the first one on"),
      last: z.coerce.number().int().min(0).max(1000).default(20).describe("number of newest events, without after"),
      type: name.optional().describe("only this type, or a prefix such as turn.*"),
      group: onlyGroup,
      follow: flag.describe("wait for more"),
      deltas: z
        .union([z.boolean(), z.enum(["0", "1"]).transform((text) => text === "1")])
        .default(false)
        .describe("with follow: also live output of turns"),
    })
    .refine(({ follow, deltas }) => follow || !deltas, "deltas needs --follow: live output is not stored"),
  output: told,
  may: { scope: "read" },
  effect: "none",
  isLong: true,
  offline: true,
  rest: "GET /events",
  restSets: { follow: true, last: 0 },
  sent: (piece) => ("delta" in piece ? { event: "delta", data: piece.delta } : { id: piece.seq, data: piece }),
  record: ({ after, type, group, deltas }) => ({
    ...(after !== undefined && { after }),
    ...(type !== undefined && { type }),
    ...(group !== undefined && { group }),
    deltas,
  }),
  cli: {},
  follow: ({ events: stored, nextEvent, watchDeltas }, { follow, deltas, ...query }, { signal }) => {
    const events = viewed(readEvents(stored, query, follow ? { next: nextEvent, signal } : undefined));
    return deltas ? together<EventView | ToldDelta>([events, asDeltas(watchDeltas(query.group, signal))]) : events;
  },
});

async function* viewed(events: AsyncIterable<HostEvent>): AsyncGenerator<EventView> {
  for await (const event of events) yield viewEvent(event);
}

async function* asDeltas(deltas: AsyncIterable<Delta | MissedDeltas>): AsyncGenerator<ToldDelta> {
  for await (const delta of deltas) yield { delta };
}

/** Operations on events. */
export const eventOperations = [tailEvents] as const;
