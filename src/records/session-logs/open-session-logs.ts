import type { Logger } from "pino";

import type { Publish } from "../../domain/events/event.ts";
import { mebibyte } from "../../lib/text/bytes.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { ClosedLogs, type ClosedLogsOptions } from "./closed-logs.ts";
import { createFloodReport } from "./output-floods.ts";
import { SessionLogs } from "./session-log.ts";

/** Maximum bytes of a log file, and the least number of files of a group, so that the oldest is a small part of all. */
const fileLimits = { bytes: 4 * mebibyte, share: 4 };

/** Opens the logs of sessions, of which each group keeps a number of bytes. */
export function openSessionLogs(
  stack: AsyncDisposableStack,
  options: {
    /** Holds the folders of sessions. */
    readonly folder: string;
    readonly sessions: ClosedLogsOptions["sessions"];
    readonly groupBytes: number;
    readonly publish: ClosedLogsOptions["publish"] & Publish<"limit.reached">;
    readonly clock: Clock;
    readonly logger: Logger;
  },
): SessionLogs {
  const { folder, sessions, groupBytes, publish, clock, logger } = options;
  const fileBytes = Math.min(fileLimits.bytes, groupBytes / fileLimits.share);
  const closing = stack.use(new ClosedLogs({ folder, sessions, groupBytes, fileBytes, publish, logger }));
  const onFault = (error: unknown): void => logger.error({ error }, "a flood of output could not be recorded");
  return new SessionLogs(folder, clock, {
    onFlood: createFloodReport({ publish, clock, onFault }),
    onClosed: (session) => closing.closed(session),
    fileBytes,
  });
}
