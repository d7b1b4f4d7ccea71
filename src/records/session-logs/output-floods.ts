import type { Publish } from "../../domain/events/event.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { RateLimiter } from "../../lib/time/rate-limiter.ts";
import type { FloodListener } from "./session-log.ts";

/** A flood must not fill the audit log. */
const quietMs = 5_000;

/**
 * Publishes that output of a session is cut off: at once the first time, then at most every five seconds for each
 * session, with the number of times in between.
 */
export function createFloodReport(options: {
  readonly publish: Publish<"limit.reached">;
  readonly clock: Pick<Clock, "monotonic">;
  readonly onFault: (error: unknown) => void;
}): FloodListener {
  const limiter = new RateLimiter({ count: 1, periodMs: quietMs });
  const text = "The container's output came too fast for the log; lines were left out.";
  return ({ group, session }, value) => {
    const { waitMs, refused: unreported } = limiter.take(options.clock.monotonic(), session);
    if (waitMs > 0) return;
    const data = { limit: "output-rate", value, text, unreported };
    options.publish({ type: "limit.reached", group, session, actor: "agent", data }).catch(options.onFault);
  };
}
