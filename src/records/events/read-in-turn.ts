import type { Delta, MissedDeltas } from "../../domain/chats/delta.ts";
import { LoopLane } from "../../lib/loop-lane.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { DeltaBus } from "./deltas/delta-bus.ts";
import type { EventBus } from "./event-bus.ts";

type Reader = Pick<Store["events"], "after" | "before">;

/** Events and live output for followers, which get them one at a time, however many there are. */
export function followInTurn(
  store: Reader,
  events: Pick<EventBus, "next">,
  deltas: Pick<DeltaBus, "read">,
): {
  readonly events: Reader;
  readonly nextEvent: (signal: AbortSignal) => Promise<void>;
  readonly watchDeltas: (group: string | undefined, signal: AbortSignal) => AsyncIterable<Delta | MissedDeltas>;
} {
  const lane = new LoopLane();
  return {
    events: readInTurn(store, lane),
    nextEvent: (signal) => events.next(signal),
    watchDeltas: (group, signal) => inTurn(deltas.read(group, signal), lane),
  };
}

/** Reads pages of events: each takes milliseconds. */
function readInTurn(store: Reader, lane: LoopLane): Reader {
  return {
    after: async (...asked) => lane.enter().then(() => store.after(...asked)),
    before: async (...asked) => lane.enter().then(() => store.before(...asked)),
  };
}

/** Values of a turn come to everybody at once, and may be large. */
async function* inTurn<Value>(values: AsyncIterable<Value>, lane: LoopLane): AsyncGenerator<Value> {
  for await (const value of values) {
    await lane.enter();
    yield value;
  }
}
