import type { Channel } from "../../../channels/channel.ts";
import type { DeltaBus } from "./delta-bus.ts";

/** Shows in these channels what their turns do while they work, until disposed. */
export function showDeltas(deltas: DeltaBus, channels: readonly Channel[]): Disposable {
  const stack = new DisposableStack();
  for (const channel of channels) {
    const watching = deltas.watch({
      wants: (place) => place.channel === channel.name && channel.showDelta !== undefined,
      take: (delta) => channel.showDelta?.(delta),
    });
    stack.use(watching);
  }
  return stack;
}
